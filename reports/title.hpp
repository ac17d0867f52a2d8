// SPDX-License-Identifier: Apache-2.0
//
// One line that says what all rows of a report have in common.
#pragma once

#include <string>

#include "reports/grouping.hpp"

namespace abortscope {

/// "ovs-hmap on model:haswell: lock fat-rwlock, 4 threads, n 200000"; `row` is any of the rows.
std::string title_of(const Grouping& grouping, const Measurement& row);

/// The same, in lines of at most `width` where its words allow, each ended.
std::string wrapped_title(const Grouping& grouping, const Measurement& row, unsigned width);

}  // namespace abortscope
