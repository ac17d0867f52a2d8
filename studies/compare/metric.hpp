// SPDX-License-Identifier: Apache-2.0
//
// What a comparison looks at: a column, which way is better, and what a change of it is told in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace abortscope {

enum class Better : unsigned char { higher, lower, neither };

struct Metric {
    std::string column;
    Better better = Better::neither;
    /// A share of 1: told in percent, its changes in percentage points.
    bool is_rate = false;
    std::string unit;
};

/// Throughput, abort rate, fallback rate, wasted cycles and the causes.
std::vector<Metric> default_metrics();

/// Any column of the results, counters, causes and bits. Throws UsageError, with the nearest name.
Metric metric_named(std::string_view column);

}  // namespace abortscope
