// SPDX-License-Identifier: Apache-2.0
//
// The left-hand columns that the tables of a grouping share: what names its levels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/grouping.hpp"
#include "reports/text_table.hpp"

namespace abortscope {

inline std::vector<TextTable::Heading> level_headings(const Grouping& grouping) {
    std::vector<TextTable::Heading> headings;
    for (const Column& column : grouping.varying()) {
        headings.push_back(
            {std::string(name_without_unit(column)), std::string(column.unit),
             column.kind == ColumnKind::text ? TextTable::Align::left : TextTable::Align::right});
    }
    return headings;
}

/// The level's values, told only in its first line.
inline std::vector<std::string> level_cells(const Grouping& grouping, std::size_t level,
                                            bool first_line) {
    if (first_line) return grouping.levels()[level];
    return std::vector<std::string>(grouping.varying().size());
}

}  // namespace abortscope
