// SPDX-License-Identifier: Apache-2.0
//
// The statistics of reports and comparisons. All are functions of their arguments alone: the
// bootstrap draws from a generator with a fixed seed.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace abortscope {

/// The middle value, or the mean of the two in the middle; none of nothing.
std::optional<double> median(std::vector<double> values);

struct Interval {
    double low = 0;
    double high = 0;
};

/// The 95 % percentile bootstrap interval (Efron 1979) of the median. Of fewer than three values it
/// is their range.
Interval median_interval(std::span<const double> values);

/// The same for median(b) - median(a), and for median(b) / median(a), where no median of a
/// resample is 0.
Interval difference_interval(std::span<const double> a, std::span<const double> b);
std::optional<Interval> ratio_interval(std::span<const double> a, std::span<const double> b);

/// Mann and Whitney's rank test (1947), two-sided: how probable it is that two samples of one and
/// the same thing are at least as far apart. Exact with ties, by the permutation distribution of
/// the rank sum, up to 100 values together; the normal approximation beyond. 1 where one is empty.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// The smallest p that samples of these sizes can have: 2 / C(n + m, n).
double smallest_p(std::size_t n, std::size_t m);

}  // namespace abortscope
