// SPDX-License-Identifier: Apache-2.0
//
// Which rows are held against which.
//
// Rows match on scenario, phase, machine, lock, policy, threads, CPUs and all parameters; seeds and
// repeats are the sample. Two files are compared point by point. Within one file (`by` a column),
// the rows with the baseline value are held against those of each other value of that column, at
// the same values of all else.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/csv_table.hpp"

namespace abortscope {

/// The rows of one table that make one sample.
struct PointRows {
    const CsvTable* table = nullptr;
    std::vector<std::size_t> rows;

    /// Their numbers in that column; rows without one are left out.
    std::vector<double> numbers(std::string_view column) const;
};

struct Point {
    std::vector<std::string> key;  ///< by the columns of `Matching::key`
    PointRows before;
    PointRows after;
};

struct Matching {
    std::vector<std::string> key;  ///< names of the columns that name a point
    std::vector<Point> points;     ///< in the order of the rows
    /// Keys that only one side has.
    std::vector<std::vector<std::string>> only_before;
    std::vector<std::vector<std::string>> only_after;

    /// The columns of the key whose values differ between points; all others say nothing.
    std::vector<std::size_t> varying() const;
};

/// Two files. A parameter that only one of them has, and has one value there, is left out: an
/// older program did not have it yet. Throws IoError if nothing matches.
Matching match(const CsvTable& before, const CsvTable& after);

/// One file, along `column`; the points' last key is its other value. Throws UsageError if there
/// is no such column or value, or no other value.
Matching match_along(const CsvTable& table, std::string_view column, std::string_view baseline);

}  // namespace abortscope
