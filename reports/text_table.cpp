// SPDX-License-Identifier: Apache-2.0
#include "reports/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "reports/wrapped.hpp"

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

void TextTable::add(std::vector<std::string> cells, Tone of_last) {
    rows_.push_back(std::move(cells));
    tones_.push_back(of_last);
}

void TextTable::add_blank_line() {
    rows_.emplace_back();
    tones_.push_back(Tone::plain);
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

void TextTable::fold(std::size_t limit) {
    constexpr std::size_t least = 16;
    const std::size_t excess = std::max(width(), limit) - limit;
    if (excess == 0) return;
    const std::vector<std::size_t> all = widths();
    std::size_t widest = headings_.size();
    for (std::size_t i = 0; i < headings_.size(); ++i) {
        if (headings_[i].align != Align::left) continue;
        if (widest == headings_.size() || all[i] > all[widest]) widest = i;
    }
    if (widest == headings_.size() || all[widest] < least + excess) return;
    std::vector<std::vector<std::string>> rows;
    std::vector<Tone> tones;
    for (std::size_t number = 0; number < rows_.size(); ++number) {
        std::vector<std::string> row = std::move(rows_[number]);
        const std::string whole =
            row.empty() ? std::string() : wrapped(row[widest], 0, all[widest] - excess);
        for (std::size_t from = 0;;) {
            const std::size_t end = whole.find('\n', from);
            if (!row.empty()) row[widest] = whole.substr(from, end - from);
            rows.push_back(std::move(row));
            tones.push_back(tones_[number]);
            if (end == std::string::npos) break;
            from = end + 1;
            row.assign(headings_.size(), "");
        }
    }
    rows_ = std::move(rows);
    tones_ = std::move(tones);
}

std::vector<TextTable> TextTable::split(std::size_t limit, std::size_t keys) const {
    const std::vector<std::size_t> all = widths();
    std::vector<TextTable> parts;
    for (std::size_t from = keys; from < all.size() || parts.empty();) {
        std::size_t total = 0;
        for (std::size_t i = 0; i < keys; ++i) total += all[i] + gap;
        std::size_t end = from;
        while (end < all.size() && (end == from || total + all[end] <= limit)) {
            total += all[end++] + gap;
        }
        const auto picked = [&](const auto& whole) {
            auto part = whole;
            part.erase(part.begin() + static_cast<std::ptrdiff_t>(end), part.end());
            part.erase(part.begin() + static_cast<std::ptrdiff_t>(keys),
                       part.begin() + static_cast<std::ptrdiff_t>(from));
            return part;
        };
        TextTable part(picked(headings_));
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (rows_[row].empty()) {
                part.add_blank_line();
            } else {
                part.add(picked(rows_[row]), end == all.size() ? tones_[row] : Tone::plain);
            }
        }
        parts.push_back(std::move(part));
        from = end;
        if (from == all.size()) break;
    }
    return parts;
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

std::string TextTable::text(const Paint& paint) const {
    const std::vector<std::size_t> all = widths();
    std::string text;
    const auto add_line = [&](const auto& cell_at, const auto& tone_at) {
        std::size_t blanks = 0;  // written only if something follows them
        for (std::size_t i = 0; i < headings_.size(); ++i) {
            const std::string cell = cell_at(i);
            const std::size_t padding = all[i] - cell.size();
            const bool right = headings_[i].align == Align::right;
            if (i != 0) blanks += gap;
            if (right) blanks += padding;
            if (!cell.empty()) {
                text.append(std::exchange(blanks, 0), ' ');
                text += paint(tone_at(i), cell);
            }
            if (!right) blanks += padding;
        }
        text += '\n';
    };
    const auto is_heading = [](std::size_t) { return Tone::heading; };
    add_line([&](std::size_t i) { return headings_[i].name; }, is_heading);
    const bool has_units =
        std::any_of(headings_.begin(), headings_.end(),
                    [](const Heading& heading) { return !heading.unit.empty(); });
    if (has_units) {
        add_line([&](std::size_t i) { return headings_[i].unit; },
                 [](std::size_t) { return Tone::quiet; });
    }
    for (std::size_t number = 0; number < rows_.size(); ++number) {
        const std::vector<std::string>& row = rows_[number];
        add_line([&](std::size_t i) { return row.empty() ? std::string() : row[i]; },
                 [&](std::size_t i) {
                     if (row.empty()) return Tone::plain;
                     if (row[i] == no_number) return Tone::quiet;
                     return i + 1 == headings_.size() ? tones_[number] : Tone::plain;
                 });
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
