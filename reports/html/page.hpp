// SPDX-License-Identifier: Apache-2.0
//
// A self-contained HTML page: a template of this folder with its style, its scripts, Chart.js and
// its data inside. In a template {{title}}, {{data}} and {{trials}} are the arguments, {{NAME}} is
// that file.
#pragma once

#include <string>
#include <string_view>

namespace abortscope {

/// `json` and `trials` become the contents of script elements, from which nothing in them can break
/// out.
std::string html_page(std::string_view page_template, std::string_view title, std::string_view json,
                      std::string_view trials = "[]");

}  // namespace abortscope
