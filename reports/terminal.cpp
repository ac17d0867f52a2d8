// SPDX-License-Identifier: Apache-2.0
#include "reports/terminal.hpp"

#include <fmt/format.h>

#include "reports/breakdown_table.hpp"
#include "reports/comparison_table.hpp"
#include "reports/grouping.hpp"
#include "reports/switches_table.hpp"
#include "reports/title.hpp"
#include "reports/wrapped.hpp"

namespace abortscope {
std::string terminal_report(std::span<const Measurement> rows, std::span<const Column> columns,
                            unsigned width, const Paint& paint) {
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
    std::string text =
        wrapped_title(grouping, rows.front(), width) + '\n' + comparison.text(width, paint);
    if (!footnotes.empty()) text += '\n' + footnotes;
    BreakdownTable breakdown = breakdown_of(grouping);
    if (!breakdown.caption.empty()) {
        breakdown.table.fit(width);
        text += '\n' + breakdown.caption + ":\n";
        for (const TextTable& part : breakdown.table.split(width, breakdown.keys)) {
            text += '\n' + part.text(paint);
        }
        if (!breakdown.notes.empty()) text += '\n' + wrapped(breakdown.notes, 0, width) + '\n';
    }
    const SwitchesTable switches = switches_of(grouping);
    if (!switches.caption.empty()) {
        text += '\n' + switches.caption + ":\n\n" + switches.table.text(paint);
    }
    return text;
}

}  // namespace abortscope
