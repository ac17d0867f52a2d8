// SPDX-License-Identifier: Apache-2.0
#include "reports/html/page.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "reports/html/assets.hpp"

namespace abortscope {
namespace {

std::string_view asset(std::string_view name) {
    const Asset* end = assets + asset_count;
    const Asset* found =
        std::find_if(assets, end, [&](const Asset& each) { return each.name == name; });
    if (found == end) throw std::logic_error("no asset " + std::string(name));
    return found->text;
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += letter;
        }
    }
    return result;
}

/// JSON inside a script element: no "</script>" and no "<!--" may occur in its strings.
std::string safe_in_script(std::string_view json) {
    std::string result;
    for (const char letter : json) {
        if (letter == '<') {
            result += "\\u003c";
        } else {
            result += letter;
        }
    }
    return result;
}

}  // namespace

std::string html_page(const HtmlPage& page, std::string_view title, std::string_view json,
                      std::string_view trials) {
    std::string scripts;
    for (const std::string_view script : page.scripts) scripts.append(asset(script));
    std::string text;
    std::string_view left = asset("page.html");
    while (true) {
        const std::size_t open = left.find("{{");
        if (open == std::string_view::npos) break;
        const std::size_t close = left.find("}}", open);
        const std::string_view name = left.substr(open + 2, close - open - 2);
        text += left.substr(0, open);
        if (name == "title") {
            text += escaped(title);
        } else if (name == "main") {
            text += asset(page.main);
        } else if (name == "scripts") {
            text += scripts;
        } else if (name == "data") {
            text += safe_in_script(json);
        } else if (name == "trials") {
            text += safe_in_script(trials);
        } else {
            text += asset(name);
        }
        left.remove_prefix(close + 2);
    }
    return text.append(left);
}

}  // namespace abortscope
