// SPDX-License-Identifier: Apache-2.0
#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/breakdown_table.hpp"
#include "reports/comparison_table.hpp"
#include "reports/grouping.hpp"
#include "reports/switches_table.hpp"
#include "reports/text_table.hpp"
#include "reports/title.hpp"

namespace abortscope {
namespace {

/// The columns worth a place in a comment, which GitHub cuts at 65,536 letters: what varies, the
/// results and the causes, none that is empty everywhere.
bool is_shown(std::span<const Measurement> rows, const Column& column) {
    const Cell first = column.of(rows.front());
    const bool same = std::all_of(rows.begin(), rows.end(),
                                  [&](const Measurement& row) { return column.of(row) == first; });
    switch (column.group) {
        case ColumnGroup::identity:
        case ColumnGroup::parameters:
            return !same;
        case ColumnGroup::results:
        case ColumnGroup::causes:
            return !same || !std::holds_alternative<std::monostate>(first);
        default:
            return false;
    }
}

TextTable row_table(std::span<const Measurement> rows, std::span<const Column> columns) {
    std::vector<Column> kept;
    std::vector<TextTable::Heading> headings;
    for (const Column& column : columns) {
        if (!is_shown(rows, column)) continue;
        kept.push_back(column);
        headings.push_back(
            {std::string(column.name), "",
             column.kind == ColumnKind::text ? TextTable::Align::left : TextTable::Align::right});
    }
    TextTable table(std::move(headings));
    for (const Measurement& row : rows) {
        std::vector<std::string> cells;
        for (const Column& column : kept) cells.push_back(to_text(column.of(row)));
        table.add(std::move(cells));
    }
    return table;
}

}  // namespace

std::string markdown_report(std::span<const Measurement> rows, std::span<const Column> columns,
                            const ReportContext& context) {
    if (rows.empty()) return "No rows.\n";
    const Grouping grouping(rows, columns);
    const ComparisonTable comparison(grouping);
    std::string text = fmt::format("### {}\n\n", title_of(grouping, rows.front()));
    text += comparison.table(comparison.others()).markdown();
    if (!comparison.others().empty()) {
        text += fmt::format("\nratio: how many times faster than {}\n", grouping.baseline());
    }
    const BreakdownTable breakdown = breakdown_of(grouping);
    if (!breakdown.caption.empty()) {
        text += fmt::format("\n{}:\n\n{}", breakdown.caption, breakdown.table.markdown());
        if (!breakdown.notes.empty()) text += fmt::format("\n{}\n", breakdown.notes);
    }
    const SwitchesTable switches = switches_of(grouping);
    if (!switches.caption.empty()) {
        text += fmt::format("\n{}:\n\n{}", switches.caption, switches.table.markdown());
    }
    text += fmt::format("\n```sh\n{}\n```\n", shell_command(context.command));
    text += fmt::format("\n<details><summary>All {} rows</summary>\n\n{}\n</details>\n",
                        rows.size(), row_table(rows, columns).markdown());
    return text;
}

}  // namespace abortscope
