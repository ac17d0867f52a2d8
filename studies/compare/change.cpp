// SPDX-License-Identifier: Apache-2.0
#include "studies/compare/change.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace abortscope {
namespace {

constexpr double significance = 0.01;
constexpr double smallest_relative_change = 0.01;
constexpr double smallest_rate_change = 0.001;

Estimate estimate_of(std::span<const double> values) {
    return {*median({values.begin(), values.end()}), median_interval(values), values.size()};
}

bool are_one(std::span<const double> before, std::span<const double> after) {
    const auto same = [&](double value) { return value == before.front(); };
    return std::all_of(before.begin(), before.end(), same) &&
           std::all_of(after.begin(), after.end(), same);
}

bool is_large_enough(const Change& change, const Metric& metric) {
    const double size = std::abs(change.delta);
    if (metric.is_rate) return size >= smallest_rate_change;
    return size >= smallest_relative_change * std::abs(change.before.median);
}

Verdict verdict_of(const Change& change, const Metric& metric) {
    if (std::min(change.before.repeats, change.after.repeats) < enough_repeats) {
        return Verdict::too_few;
    }
    if (!change.is_significant || change.delta == 0 || !is_large_enough(change, metric)) {
        return Verdict::not_significant;
    }
    if (metric.better == Better::neither) return Verdict::changed;
    const bool rose = change.delta > 0;
    return rose == (metric.better == Better::higher) ? Verdict::better : Verdict::worse;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
    constexpr std::array<std::string_view, 6> names{"same",   "too few", "not significant",
                                                    "better", "worse",   "changed"};
    return names[static_cast<std::size_t>(verdict)];
}

std::optional<Change> change_between(std::span<const double> before, std::span<const double> after,
                                     const Metric& metric) {
    if (before.empty() || after.empty()) return std::nullopt;
    Change change;
    change.before = estimate_of(before);
    change.after = estimate_of(after);
    change.delta = change.after.median - change.before.median;
    if (change.before.median != 0) change.ratio = change.after.median / change.before.median;
    if (are_one(before, after)) {
        if (change.ratio) change.ratio_interval = Interval{1, 1};
        return change;
    }
    change.delta_interval = difference_interval(before, after);
    change.ratio_interval = ratio_interval(before, after);
    change.p = mann_whitney_p(before, after);
    constexpr double rounding = 1e-9;
    const double limit = std::max(significance, smallest_p(before.size(), after.size()));
    change.is_significant =
        std::min(before.size(), after.size()) >= enough_repeats && change.p <= limit + rounding;
    change.verdict = verdict_of(change, metric);
    return change;
}

std::vector<Change> changes_of(const Matching& matching, std::span<const Metric> metrics) {
    std::vector<Change> changes;
    for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
        for (std::size_t point = 0; point < matching.points.size(); ++point) {
            const std::vector<double> before =
                matching.points[point].before.numbers(metrics[metric].column);
            const std::vector<double> after =
                matching.points[point].after.numbers(metrics[metric].column);
            std::optional<Change> change = change_between(before, after, metrics[metric]);
            if (!change) continue;
            change->point = point;
            change->metric = metric;
            changes.push_back(*change);
        }
    }
    return changes;
}

}  // namespace abortscope
