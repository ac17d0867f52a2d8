// SPDX-License-Identifier: Apache-2.0
#include "reports/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>

#include "machines/random.hpp"

namespace abortscope {
namespace {

constexpr int resamples = 2000;
constexpr double tail = 0.025;  // on either side of a 95 % interval
constexpr std::size_t exact_limit = 100;

std::vector<double> resampled(std::span<const double> values, Random& random) {
    std::vector<double> sample(values.size());
    for (double& each : sample) each = values[random.below(values.size())];
    return sample;
}

/// The percentile interval of a statistic that may be none for a resample; none if it ever is.
std::optional<Interval> bootstrap(const std::function<std::optional<double>(Random&)>& statistic) {
    Random random(1);
    std::vector<double> results;
    results.reserve(resamples);
    for (int i = 0; i < resamples; ++i) {
        const std::optional<double> result = statistic(random);
        if (!result) return std::nullopt;
        results.push_back(*result);
    }
    std::sort(results.begin(), results.end());
    const auto last = static_cast<double>(results.size() - 1);
    return Interval{results[static_cast<std::size_t>(std::floor(tail * last))],
                    results[static_cast<std::size_t>(std::ceil((1 - tail) * last))]};
}

/// Twice the midranks of both samples together, so that ties have whole numbers too.
std::vector<std::size_t> doubled_ranks(std::span<const double> a, std::span<const double> b) {
    std::vector<double> sorted(a.begin(), a.end());
    sorted.insert(sorted.end(), b.begin(), b.end());
    std::sort(sorted.begin(), sorted.end());
    const auto rank = [&](double value) {
        const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
        return static_cast<std::size_t>((first - sorted.begin()) + (last - sorted.begin()) + 1);
    };
    std::vector<std::size_t> ranks;
    for (const double value : a) ranks.push_back(rank(value));
    for (const double value : b) ranks.push_back(rank(value));
    return ranks;
}

/// ways[s]: in how many ways `count` of the ranks add up to s. As doubles: C(100, 50) is 1e29.
std::vector<double> ways_to_sum(const std::vector<std::size_t>& ranks, std::size_t count) {
    const std::size_t most = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
    std::vector<std::vector<double>> ways(count + 1, std::vector<double>(most + 1, 0));
    ways[0][0] = 1;
    for (const std::size_t rank : ranks) {
        for (std::size_t chosen = count; chosen > 0; --chosen) {
            for (std::size_t sum = most; sum >= rank; --sum) {
                ways[chosen][sum] += ways[chosen - 1][sum - rank];
            }
        }
    }
    return ways[count];
}

double exact_p(const std::vector<std::size_t>& ranks, std::size_t n) {
    const std::vector<double> ways = ways_to_sum(ranks, n);
    const auto end_of_a = ranks.begin() + static_cast<std::ptrdiff_t>(n);
    const std::size_t observed = std::accumulate(ranks.begin(), end_of_a, std::size_t{0});
    // The doubled mean of the doubled rank sum: n (N + 1).
    const double centre = static_cast<double>(n * (ranks.size() + 1));
    const double distance = std::abs(static_cast<double>(observed) - centre);
    double as_far = 0;
    double all = 0;
    for (std::size_t sum = 0; sum < ways.size(); ++sum) {
        all += ways[sum];
        if (std::abs(static_cast<double>(sum) - centre) >= distance) as_far += ways[sum];
    }
    return as_far / all;
}

double approximate_p(const std::vector<std::size_t>& ranks, std::size_t n) {
    const auto total = static_cast<double>(ranks.size());
    const auto size = static_cast<double>(n);
    double sum = 0;
    double variance = 0;  // of the doubled ranks about their mean, which takes ties into account
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const double off = static_cast<double>(ranks[i]) - (total + 1);
        variance += off * off;
        if (i < n) sum += off;
    }
    variance *= size * (total - size) / (total * (total - 1));
    if (variance == 0) return 1;
    const double continuity = 1;  // half a rank, doubled
    const double z = std::max(0.0, std::abs(sum) - continuity) / std::sqrt(variance);
    return std::erfc(z / std::sqrt(2.0));
}

}  // namespace

std::optional<double> median(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    if (values.size() % 2 == 1) return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

Interval median_interval(std::span<const double> values) {
    if (values.size() < 3) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        return values.empty() ? Interval{} : Interval{*low, *high};
    }
    return *bootstrap([&](Random& random) { return median(resampled(values, random)); });
}

Interval difference_interval(std::span<const double> a, std::span<const double> b) {
    return *bootstrap([&](Random& random) -> std::optional<double> {
        const double from = *median(resampled(a, random));
        return *median(resampled(b, random)) - from;
    });
}

std::optional<Interval> ratio_interval(std::span<const double> a, std::span<const double> b) {
    return bootstrap([&](Random& random) -> std::optional<double> {
        const double from = *median(resampled(a, random));
        if (from == 0) return std::nullopt;
        return *median(resampled(b, random)) / from;
    });
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
    if (a.empty() || b.empty()) return 1;
    const std::vector<std::size_t> ranks = doubled_ranks(a, b);
    return ranks.size() <= exact_limit ? exact_p(ranks, a.size()) : approximate_p(ranks, a.size());
}

double smallest_p(std::size_t n, std::size_t m) {
    if (n == 0 || m == 0) return 1;
    double combinations = 1;
    for (std::size_t i = 1; i <= n; ++i) {
        combinations *= static_cast<double>(m + i) / static_cast<double>(i);
    }
    return std::min(1.0, 2 / combinations);
}

}  // namespace abortscope
