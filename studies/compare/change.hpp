// SPDX-License-Identifier: Apache-2.0
//
// How much a metric differs between two samples, and whether that may be chance.
//
//   verdict           when
//   ----------------  -----------------------------------------------------------------------
//   same              all values of both samples are one
//   too few           a sample has fewer than three values
//   not significant   the test cannot tell them apart, or the change is below 1 % (0.1 pp)
//   better, worse     otherwise; `changed` where the metric has no good direction
//
// The test is Mann and Whitney's, two-sided. Many points are tested at once, so 0.05 would call
// every twentieth pair of seeds a change: p must be at most 0.01, or, where samples are so small
// that they cannot reach that (3 and 3: 0.1; 4 and 4: 0.029), as small as they can get, which is
// when they do not overlap at all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reports/statistics.hpp"
#include "studies/compare/metric.hpp"
#include "studies/compare/points.hpp"

namespace abortscope {

/// Samples with fewer repeats are not tested.
inline constexpr std::size_t enough_repeats = 3;

enum class Verdict : unsigned char { same, too_few, not_significant, better, worse, changed };

std::string_view name_of(Verdict verdict);

struct Estimate {
    double median = 0;
    Interval interval;  ///< 95 % bootstrap interval
    std::size_t repeats = 0;
};

struct Change {
    std::size_t point = 0;   ///< place in Matching::points
    std::size_t metric = 0;  ///< place in the list of metrics
    Estimate before;
    Estimate after;
    double delta = 0;  ///< after - before, in the metric's unit
    Interval delta_interval;
    std::optional<double> ratio;  ///< after / before; none where before is 0
    std::optional<Interval> ratio_interval;
    double p = 1;
    bool is_significant = false;  ///< by the test alone, however small
    Verdict verdict = Verdict::same;
};

/// Nothing where one side has no number.
std::optional<Change> change_between(std::span<const double> before, std::span<const double> after,
                                     const Metric& metric);

/// Of every metric at every point, in this order.
std::vector<Change> changes_of(const Matching& matching, std::span<const Metric> metrics);

}  // namespace abortscope
