// SPDX-License-Identifier: Apache-2.0
#include "reports/title.hpp"

#include <limits>
#include <vector>

namespace abortscope {
namespace {

/// Words joined by ", " and broken into lines of `width`, the later ones indented.
std::string wrapped(const std::string& start, const std::vector<std::string>& words,
                    unsigned width) {
    std::string text;
    std::string line = start;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
        if (line.size() + 1 + word.size() > width) {
            text += line + '\n';
            line = "   ";
        }
        line += ' ' + word;
    }
    return text + line + '\n';
}

}  // namespace

std::string title_of(const Grouping& grouping, const Measurement& row) {
    std::string line = wrapped_title(grouping, row, std::numeric_limits<unsigned>::max());
    line.pop_back();
    return line;
}

std::string wrapped_title(const Grouping& grouping, const Measurement& row, unsigned width) {
    std::string start;
    std::vector<std::string> words;
    for (const Column& column : grouping.constant()) {
        const std::string text = to_text(column.of(row));
        if (column.name == "scenario") {
            start = text;
        } else if (column.name == "machine") {
            start += (start.empty() ? "" : " on ") + text;
        } else if (column.name == "threads" || column.name == "cpus") {
            const std::string name(column.name);
            words.push_back(text == "1" ? "1 " + name.substr(0, name.size() - 1)
                                        : text + ' ' + name);
        } else {
            const std::string unit(column.unit.empty() ? "" : ' ' + std::string(column.unit));
            words.push_back(std::string(name_without_unit(column)) + ' ' + text + unit);
        }
    }
    if (words.empty()) return start + '\n';
    return wrapped(start.empty() ? start : start + ':', words, width);
}

}  // namespace abortscope
