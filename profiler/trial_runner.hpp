// SPDX-License-Identifier: Apache-2.0
//
// Runs one trial on its machine and gives its rows, one a phase.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/row.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

struct TrialResult {
    std::vector<Measurement> rows;
    std::uint64_t simulated_accesses = 0;  ///< 0 on native
    std::uint64_t host_ns = 0;             ///< how long the trial took its host thread
};

/// Builds the workload, runs its phases and checks each. Throws CheckFailed, with the command that
/// does it again, if a check does not hold, a lock that nobody held was unlocked or the workload
/// fails in another way; CannotMeasure if this computer lacks what the trial needs; UsageError for
/// a machine or a number of CPUs that does not exist. Model trials may run on several host threads
/// at once, native ones share the computer and run alone. Where a native trial's counters do not
/// all fit the CPU's, it runs once for each pass over them; times and causes are the first one's.
TrialResult run_trial(const ScenarioEntry& scenario, const TrialSpec& spec);

/// Throws CannotMeasure or UsageError as `run_trial` would, without running anything.
void require_runnable(const TrialSpec& spec);

}  // namespace abortscope
