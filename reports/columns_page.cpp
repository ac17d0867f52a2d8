// SPDX-License-Identifier: Apache-2.0
#include "reports/columns_page.hpp"

#include <fmt/format.h>

#include <span>

#include "profiler/columns.hpp"
#include "reports/text_table.hpp"

namespace abortscope {
namespace {

constexpr std::string_view start = R"(# The columns of a row

A row is one phase of one trial: one scenario, on one machine, with one lock, one retry policy, one
set of parameters and one seed, run once. `--csv` writes rows as they come, and `--json` the same
names and numbers with the reasons of absent ones; `docs/schema.json` describes that file.

* The columns stand in this order. After the identity come the parameters of the scenarios that were
  run (`abortscope list NAME` explains them); empty where a row's scenario has no such parameter.
* An empty cell was not measured, or is 0/0. It is never a zero, and a zero was measured.
* Real numbers have up to nine significant digits. A field with a comma is in quotes (RFC 4180).
* Files concatenate: a further header line is read as such by `abortscope compare`.
* The causes are exclusive and add up to the aborts; the status bits are inclusive and can add up
  to more (`abortscope decode` explains a status).
* `tx_start = tx_commit + tx_abort`, and `acquisitions = elided + fallbacks`, on every row of the
  model.

This page is made by `abortscope columns --markdown`.
)";

constexpr std::string_view end = R"(
## Where a number comes from

| source | the number is |
|:---|:---|
| `hw` | from a counter of the processor or the kernel that ran the whole time, or the clock |
| `scaled` | from a counter that ran part of the time, scaled up to all of it |
| `software` | counted by our own code, from the abort statuses |
| `model` | exact, from the simulated machine |
| `absent` | not there; `absent_reason` says why |
)";

constexpr std::string_view intro_of(ColumnGroup group) {
    switch (group) {
        case ColumnGroup::identity:
            return "What was run.";
        case ColumnGroup::parameters:
            break;  // not of this table
        case ColumnGroup::results:
            return "What came of it.";
        case ColumnGroup::counters:
            return "Of all workers, over the phase: exact on the model, perf_event counters on "
                   "native.";
        case ColumnGroup::causes:
            return "Aborts by their exclusive cause.";
        case ColumnGroup::bits:
            return "Aborts by the bits of their status, inclusively.";
        case ColumnGroup::sources:
            return "Where the numbers come from.";
    }
    return "";
}

std::string_view kind_of(const Column& column) {
    switch (column.kind) {
        case ColumnKind::text:
            return "text";
        case ColumnKind::integer:
            return "whole number";
        case ColumnKind::real:
            return "number";
    }
    return "";
}

TextTable empty_table() {
    using enum TextTable::Align;
    return TextTable(std::vector<TextTable::Heading>{
        {"column", "", left}, {"kind", "", left}, {"unit", "", left}, {"meaning", "", left}});
}

}  // namespace

std::string columns_page() {
    const std::span<const Column> columns = fixed_columns();
    std::string page(start);
    for (std::size_t first = 0; first < columns.size();) {
        const ColumnGroup group = columns[first].group;
        TextTable table = empty_table();
        std::size_t next = first;
        for (; next < columns.size() && columns[next].group == group; ++next) {
            const Column& column = columns[next];
            table.add({fmt::format("`{}`", column.name), std::string(kind_of(column)),
                       std::string(column.unit), std::string(column.help)});
        }
        page +=
            fmt::format("\n## {}\n\n{}\n\n{}", name_of(group), intro_of(group), table.markdown());
        first = next;
    }
    return page.append(end);
}

}  // namespace abortscope
