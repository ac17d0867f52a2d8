// SPDX-License-Identifier: Apache-2.0
//
// A measurement: one phase of one trial, with all that is known about it.
//
// What is stored here was counted; what follows from it (rates, means) is a function. A number
// that was not measured, and 0/0, is no value, and becomes an empty cell: never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "primitives/abort_log.hpp"
#include "profiler/counters/counter.hpp"

namespace abortscope {

/// A scenario's parameter as a row carries it.
struct ParameterValue {
    std::string_view name;  ///< the ParameterSpec's
    std::int64_t number = 0;
    std::string_view word;  ///< shown instead of the number, where the parameter is one of a few
};

struct Measurement {
    // What was run.
    std::string scenario;
    std::string phase;
    std::string machine;
    std::string lock;
    std::string policy;
    unsigned threads = 0;
    unsigned cpus = 0;  ///< that the workers could use: never 0
    std::uint64_t seed = 0;
    unsigned repeat = 0;
    std::vector<ParameterValue> parameters;

    // What came of it.
    std::uint64_t duration_ns = 0;
    Provenance time_source = Provenance::absent;
    std::vector<std::uint64_t> worker_operations;  ///< one per worker that ran the phase
    Readings counters{};
    /// Of the context switches, those that no wait of the worker's own made. Not a column: the
    /// columns' order is relied upon (docs/csv.md).
    std::optional<std::uint64_t> involuntary_switches;
    /// The workers' logs together; none where the workload kept none.
    std::optional<AbortLog> log;
    Provenance cause_source = Provenance::absent;

    std::uint64_t operations() const;
    std::optional<double> operations_per_s() const;
    std::optional<double> worker_operations_mean() const;

    /// Fallbacks per acquisition.
    std::optional<double> fallback_rate() const;
    /// Aborts per attempt, by the logs, which miss nothing; by the counters where no log was kept.
    std::optional<double> abort_rate() const;
    /// Cycles in transactions that aborted: cycles_t - cycles_ct.
    std::optional<std::uint64_t> wasted_cycles() const;
    /// The longest row of real acquisitions by one worker; none where nothing tried to elide.
    std::optional<std::uint64_t> longest_fallback_run() const;
    /// The lemming index: fallbacks per acquisition that followed a fallback.
    std::optional<double> fallback_after_fallback_rate() const;

    /// Where the processor's counters come from: the weakest of those that are present. The
    /// kernel's (task_clock_ns and on) do not count here: they open almost everywhere.
    Provenance counter_source() const;
    /// The smallest part of the phase that a present counter ran for.
    std::optional<double> counter_running_pct() const;
    /// Why cells are empty: the distinct reasons of the absent counters.
    std::string absent_reason() const;
};

/// Adds a worker's counts to the sum; of the fallback runs the longest is kept.
void add(AbortLog& sum, const AbortLog& log);

}  // namespace abortscope
