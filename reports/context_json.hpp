// SPDX-License-Identifier: Apache-2.0
//
// What every JSON report begins with, and how all of them are written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/context.hpp"

namespace abortscope {

using Json = nlohmann::ordered_json;

/// {"command": …, "build": {…}, "host": {…}}
Json context_json(const ReportContext& context);

/// One value a line; what is no UTF-8 (an argument, a file name) is replaced by U+FFFD.
std::string text_of(const Json& json);

}  // namespace abortscope
