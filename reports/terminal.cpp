// SPDX-License-Identifier: Apache-2.0
#include "reports/terminal.hpp"

#include <fmt/format.h>

#include "reports/breakdown_table.hpp"
#include "reports/comparison_table.hpp"
#include "reports/grouping.hpp"

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

/// "ovs-hmap on model:haswell: lock fat-rwlock, 4 threads, n 200000"
std::string title(const Grouping& grouping, const Measurement& row, unsigned width) {
    std::string start;
    std::vector<std::string> words;
    for (const Column& column : grouping.constant()) {
        const std::string text = to_text(column.of(row));
        if (column.name == "scenario") {
            start = text;
        } else if (column.name == "machine") {
            start += (start.empty() ? "" : " on ") + text;
        } else if (column.name == "threads" || column.name == "cpus") {
            words.push_back(text + ' ' + std::string(column.name));
        } else {
            const std::string unit(column.unit.empty() ? "" : ' ' + std::string(column.unit));
            words.push_back(std::string(name_without_unit(column)) + ' ' + text + unit);
        }
    }
    if (words.empty()) return start + '\n';
    return wrapped(start.empty() ? start : start + ':', words, width);
}

}  // namespace

std::string terminal_report(std::span<const Measurement> rows, std::span<const Column> columns,
                            unsigned width) {
    if (rows.empty()) return {};
    const Grouping grouping(rows, columns);
    const ComparisonTable comparison(grouping);
    std::string footnotes;
    if (grouping.policies().size() > 1) {
        footnotes += fmt::format("ratio: how many times faster than {}\n", grouping.baseline());
    }
    if (grouping.repeats() > 1) {
        footnotes += fmt::format("{} repeats: {} are medians, counts are means\n",
                                 grouping.repeats(), comparison.as_times() ? "times" : "rates");
    }
    std::string text = title(grouping, rows.front(), width) + '\n' + comparison.text(width);
    if (!footnotes.empty()) text += '\n' + footnotes;
    const BreakdownTable breakdown = breakdown_of(grouping, width);
    if (!breakdown.caption.empty()) {
        text += '\n' + breakdown.caption + ":\n\n" + breakdown.table.text();
    }
    return text;
}

}  // namespace abortscope
