// SPDX-License-Identifier: Apache-2.0
//
// What to try next, from the rows of a run and from what was asked for already.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/row.hpp"

namespace abortscope::cli {

/// `given` tells whether an option stood on the command line, `exists` whether there is a command.
/// At most two lines; no line for what was given.
std::vector<std::string> hints_for(std::span<const Measurement> rows,
                                   const std::function<bool(std::string_view option)>& given,
                                   const std::function<bool(std::string_view command)>& exists);

}  // namespace abortscope::cli
