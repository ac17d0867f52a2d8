// SPDX-License-Identifier: Apache-2.0
//
// A self-contained HTML page: the frame that all have (page.html) around what one of them shows,
// with its style, its scripts, Chart.js and its data inside.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace abortscope {

/// One kind of page, by files of this folder.
struct HtmlPage {
    std::string_view main;                      ///< what stands in the main element
    std::span<const std::string_view> scripts;  ///< run in this order, after tools.js
};

/// `json`, which begins as `context_json` does, and `trials` become the contents of script
/// elements, from which nothing in them can break out.
std::string html_page(const HtmlPage& page, std::string_view title, std::string_view json,
                      std::string_view trials = "[]");

}  // namespace abortscope
