// SPDX-License-Identifier: Apache-2.0
//
// Runs one trial on its machine and gives its rows, one a phase.
#pragma once

#include <cstdint>
#include <vector>

#include "machines/model/abort_reason.hpp"
#include "profiler/counters/counter_plan.hpp"
#include "profiler/hot_lines.hpp"
#include "profiler/row.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

namespace model {
class Observer;
}

/// What simulating a phase took the host.
struct PhaseEffort {
    std::string phase;
    std::uint64_t simulated_accesses = 0;
    std::uint64_t host_ns = 0;
};

struct TrialResult {
    TrialSpec spec;  ///< what was run: an interrupted queue leaves results out
    std::vector<Measurement> rows;
    std::vector<HotLine> hot_lines;  ///< worst first; on the model only
    /// Capacity aborts by set and way of L1: index set * ways + way; on the model only.
    std::vector<std::uint64_t> capacity_map;
    unsigned capacity_map_ways = 0;
    /// Lines that transactions had touched when they overflowed, added up over capacity aborts; on
    /// the model only.
    std::uint64_t capacity_lines = 0;
    model::AbortReasonCounts abort_reasons{};  ///< on the model only
    std::uint64_t simulated_accesses = 0;      ///< 0 on native
    std::vector<PhaseEffort> efforts;          ///< on the model only, in the order of the phases
    std::uint64_t host_ns = 0;                 ///< how long the trial took its host thread
};

/// What a trial may be watched or disturbed by; it changes nothing in a spec or a row.
struct TrialOptions {
    model::Observer* observer = nullptr;  ///< told of everything on the model; not owned
    /// Aborts injected into transactions on the model, per million accesses: the rollback audit.
    std::uint32_t injected_aborts_ppm = 0;
};

/// Builds the workload, runs its phases and checks each. Throws CheckFailed, with the command that
/// does it again, if a check does not hold, a lock that nobody held was unlocked or the workload
/// fails in another way; CannotMeasure if this computer lacks what the trial needs; UsageError for
/// a machine or a number of CPUs that does not exist. Model trials may run on several host threads
/// at once, native ones share the computer and run alone. Where a native trial's counters do not
/// all fit the CPU's, it runs once for each pass over them; times and causes are the first one's.
TrialResult run_trial(const ScenarioEntry& scenario, const TrialSpec& spec,
                      const TrialOptions& options = {});

/// How the counters of native trials are planned. Before the first of them: the plan is made, and
/// tried, once.
void plan_native_counters(const PlanOptions& options);
const CounterPlan& native_counter_plan();

/// Throws CannotMeasure or UsageError as `run_trial` would, without running anything.
void require_runnable(const TrialSpec& spec);

}  // namespace abortscope
