// SPDX-License-Identifier: Apache-2.0
//
// The column table: what a row says, in which order, in which unit.
//
// The CSV, the JSON and its schema, the Markdown, the HTML and docs/csv.md all derive from it. The
// order is identity, parameters, results, counters, causes, bits, sources; only the parameters
// differ from run to run: they are those of the scenarios that are run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "profiler/row.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

/// Raised when a column changes its meaning or goes away; a new column does not raise it.
inline constexpr std::uint64_t schema_version = 1;

/// What a column says of one row. No value is an empty cell.
using Cell = std::variant<std::monostate, std::uint64_t, std::int64_t, double, std::string>;

/// As in the CSV: nine significant digits for a real number, "" for no value.
std::string to_text(const Cell& cell);

enum class ColumnKind : std::uint8_t { text, integer, real };
enum class ColumnGroup : std::uint8_t {
    identity,
    parameters,
    results,
    counters,
    causes,
    bits,
    sources,
};

inline constexpr std::array<std::string_view, 7> column_group_names{
    "identity", "parameters", "results", "counters", "causes", "bits", "sources"};

constexpr std::string_view name_of(ColumnGroup group) {
    return column_group_names[static_cast<std::size_t>(group)];
}

struct Column {
    std::string_view name;
    std::string_view unit;  ///< "" where it is a count, a name or a ratio
    ColumnKind kind;
    ColumnGroup group;
    std::string_view help;
    Cell (*get)(const Measurement&);  ///< null for a parameter

    Cell of(const Measurement& row) const;
};

/// All columns but the parameters', in order.
std::span<const Column> fixed_columns();

/// The columns of a run of these scenarios: the parameters stand after the identity, each once, in
/// the order in which the scenarios name them.
std::vector<Column> columns_for(std::span<const ScenarioInfo* const> scenarios);

/// The unit that a parameter's name ends in: "%" for mutation_pct, "" for n.
std::string_view unit_of_parameter(std::string_view name);

/// A column's name for people, who see its unit beside it: "mutation" for mutation_pct.
std::string_view name_without_unit(const Column& column);

/// The column's place in `columns`, or columns.size().
std::size_t index_of(std::span<const Column> columns, std::string_view name);

}  // namespace abortscope
