// SPDX-License-Identifier: Apache-2.0
#include "reports/wrapped.hpp"

#include <algorithm>

namespace abortscope {

namespace {

/// Letters that a terminal shows of it.
std::size_t shown(std::string_view text) {
    std::size_t letters = 0;
    bool in_escape = false;
    for (const char letter : text) {
        if (letter == '\x1b') in_escape = true;
        if (!in_escape) ++letters;
        if (in_escape && letter == 'm') in_escape = false;
    }
    return letters;
}

/// Where what does not fit in a line goes on in the next.
std::size_t hanging_indent(std::string_view line, std::size_t width) {
    constexpr std::size_t least_room = 24;
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = line.substr(0, width).rfind("  ");
    std::size_t indent = gap == std::string_view::npos || gap < first ? first + 2 : gap + 2;
    if (line.substr(std::min(indent, line.size())).starts_with("-> ")) indent += 3;
    return indent + least_room <= width ? indent : first + 2;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string result;
    std::size_t column = indent;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (column != indent && column + 1 + word.size() > width) {
            result += '\n' + std::string(indent, ' ');
            column = indent;
        }
        if (column != indent) {
            result += ' ';
            ++column;
        }
        result += word;
        column += word.size();
    }
    return result;
}

std::string folded(std::string_view text, std::size_t width) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const std::size_t indent = hanging_indent(line, width);
        std::size_t room = width;
        while (shown(line) > room) {
            std::size_t at = line.rfind(' ', room);
            if (at == std::string_view::npos || line.find_first_not_of(' ') > at) {
                at = line.find(' ', room);  // one long word
            }
            if (at == std::string_view::npos) break;
            result += line.substr(0, at);
            result += '\n' + std::string(indent, ' ');
            line.remove_prefix(at + 1);
            room = width - indent;
        }
        result += line;
        if (end != std::string_view::npos) result += '\n';
    }
    return result;
}

}  // namespace abortscope
