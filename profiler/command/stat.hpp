// SPDX-License-Identifier: Apache-2.0
//
// Counters around any program, its threads and its children.
//
// Events are attached to the held child and inherited by what it starts, enabled by its exec. The
// kernel gives inherited events no groups: each is read with times of its own, and a pass of the
// plan is small enough that all of it runs at once. A run counts one pass; `repeat` runs go through
// the passes in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/command/child.hpp"
#include "profiler/counters/counter.hpp"
#include "profiler/counters/counter_plan.hpp"
#include "profiler/counters/perf_system.hpp"
#include "profiler/host/host_description.hpp"

namespace abortscope {

struct StatOptions {
    std::vector<std::string> command;
    unsigned repeat = 1;
    std::uint64_t interval_ns = 0;  ///< 0: no intervals
};

/// What was counted between two moments of a run.
struct StatInterval {
    std::uint64_t end_ns = 0;  ///< since the program's start
    Readings readings;
};

struct StatRun {
    std::size_t pass = 0;
    std::uint64_t elapsed_ns = 0;
    ChildEnd end;
    Readings readings;
    std::vector<StatInterval> intervals;
};

struct StatResult {
    std::vector<StatRun> runs;
    /// The errno of exec if the program could not be started: then there are no runs.
    int exec_error = 0;
    /// What the program's runs ended with: the first status that is not 0.
    int status = 0;
};

/// Called at the end of each interval, with the number of the run.
using OnInterval = std::function<void(std::size_t run, const StatInterval&)>;

/// Runs the program. `plan` is a tested one. A run that a signal ended is the last. Throws IoError
/// if there are no processes left.
StatResult run_stat(const StatOptions& options, const CounterPlan& plan,
                    const HostDescription& host, PerfSystem& perf,
                    const OnInterval& on_interval = {});

/// The mean over the runs that counted it, for each counter; absent if none did.
Readings mean_of(const std::vector<StatRun>& runs);

/// A number that follows from counters: perf stat -T's formulae, whose denominators are all
/// attempts, not commits, and the abort rate.
struct DerivedNumber {
    std::string_view name;  ///< `cycles_per_transaction`
    std::string_view unit;  ///< "%", "cycles"
    std::string_view help;
    std::optional<double> value;
};

std::vector<DerivedNumber> derived_numbers(const Readings& readings);

}  // namespace abortscope
