// SPDX-License-Identifier: Apache-2.0
//
// All retry policies on one workload: what each gains, and what it pays for that.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/columns.hpp"
#include "reports/context.hpp"
#include "reports/statistics.hpp"

namespace abortscope {

/// One policy at one point, over the repeats; in the phase that most acquisitions fall into.
struct Contestant {
    std::string policy;
    double operations_per_s = 0;  ///< median
    Interval spread;              ///< its lowest and highest repeat
    /// Share of all cycles that were spent in transactions that aborted; none where not counted.
    std::optional<double> wasted_share;
    std::optional<double> abort_rate;
    std::optional<double> fallback_rate;
    /// Jain's index of the workers' operations, (sum x)^2 / (n sum x^2): 1 is fair, 1/n is one
    /// worker that has all (Jain, Chiu and Hawe, DEC TR-301, 1984). The median over the repeats.
    std::optional<double> fairness;
    /// Fewest and most operations of a worker, as shares of the mean, over all repeats.
    std::optional<double> least;
    std::optional<double> most;
    bool on_front =
        false;  ///< nobody has at least its throughput for less waste, or more for as much
};

/// A point of the sweep: everything but the policy.
struct Contest {
    std::string title;
    std::string phase;
    std::vector<Contestant> contestants;  ///< the fastest first
};

/// 1 where all are equal; none of nothing, or where nobody did anything.
std::optional<double> jain_index(std::span<const std::uint64_t> shares);

/// Marks the Pareto front of throughput (more) and wasted cycles (less).
void mark_front(std::vector<Contestant>& contestants);

std::vector<Contest> contests_of(std::span<const Measurement> rows,
                                 std::span<const Column> columns);

std::string shootout_text(std::span<const Contest> contests, unsigned width);
std::string shootout_markdown(std::span<const Contest> contests, const ReportContext& context);

}  // namespace abortscope
