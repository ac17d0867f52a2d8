// SPDX-License-Identifier: Apache-2.0
#include "reports/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace abortscope {
namespace {

constexpr std::size_t gap = 2;

/// The text as it stands in a cell of a Markdown table.
std::string markdown_cell(std::string_view text) {
    std::string cell;
    for (const char letter : text) {
        if (letter == '|' || letter == '\\') cell += '\\';
        if (letter == '<') {
            cell += "&lt;";
        } else {
            cell += letter == '\n' ? ' ' : letter;
        }
    }
    return cell;
}

}  // namespace

TextTable::TextTable(std::vector<Heading> headings) : headings_(std::move(headings)) {}

void TextTable::add(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
}

void TextTable::add_blank_line() {
    rows_.emplace_back();
}

void TextTable::fit(std::size_t limit) {
    int highest = 0;
    for (const Heading& heading : headings_) highest = std::max(highest, heading.rank);
    for (int rank = 1; rank <= highest && width() > limit; ++rank) {
        for (std::size_t i = headings_.size(); i-- > 0;) {
            if (headings_[i].rank != rank) continue;
            const auto place = static_cast<std::ptrdiff_t>(i);
            headings_.erase(headings_.begin() + place);
            for (std::vector<std::string>& row : rows_) {
                if (!row.empty()) row.erase(row.begin() + place);
            }
        }
    }
}

std::vector<std::size_t> TextTable::widths() const {
    std::vector<std::size_t> widths;
    for (const Heading& heading : headings_) {
        widths.push_back(std::max(heading.name.size(), heading.unit.size()));
    }
    for (const std::vector<std::string>& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    return widths;
}

std::size_t TextTable::width() const {
    const std::vector<std::size_t> all = widths();
    if (all.empty()) return 0;
    return std::accumulate(all.begin(), all.end(), gap * (all.size() - 1));
}

std::string TextTable::text() const {
    const std::vector<std::size_t> all = widths();
    std::string text;
    const auto add_line = [&](const auto& cell_at) {
        std::string line;
        for (std::size_t i = 0; i < headings_.size(); ++i) {
            if (i != 0) line.append(gap, ' ');
            line += headings_[i].align == Align::right ? fmt::format("{:>{}}", cell_at(i), all[i])
                                                       : fmt::format("{:<{}}", cell_at(i), all[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    add_line([&](std::size_t i) { return headings_[i].name; });
    const bool has_units =
        std::any_of(headings_.begin(), headings_.end(),
                    [](const Heading& heading) { return !heading.unit.empty(); });
    if (has_units) add_line([&](std::size_t i) { return headings_[i].unit; });
    for (const std::vector<std::string>& row : rows_) {
        add_line([&](std::size_t i) { return row.empty() ? std::string() : row[i]; });
    }
    return text;
}

std::string TextTable::markdown() const {
    std::string text = "|";
    for (const Heading& heading : headings_) {
        text += ' ' + markdown_cell(heading.name) +
                (heading.unit.empty() ? "" : " (" + heading.unit + ")") + " |";
    }
    text += "\n|";
    for (const Heading& heading : headings_) {
        text += heading.align == Align::right ? "---:|" : ":---|";
    }
    text += '\n';
    for (const std::vector<std::string>& row : rows_) {
        if (row.empty()) continue;
        text += '|';
        for (const std::string& cell : row) text += ' ' + markdown_cell(cell) + " |";
        text += '\n';
    }
    return text;
}

}  // namespace abortscope
