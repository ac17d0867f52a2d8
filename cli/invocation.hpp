// SPDX-License-Identifier: Apache-2.0
//
// How this process was started, what it was built from and where it runs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/context.hpp"

namespace abortscope::cli {

/// Called once, with the words after the program's name, before anything else runs.
void remember_invocation(std::span<const std::string> words);

/// What reports say beside their rows.
ReportContext report_context();

/// "0.1.0"
std::string_view version();

/// Version, compiler and libraries, as `--version` prints them.
Facts build_facts();

}  // namespace abortscope::cli
