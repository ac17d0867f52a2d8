// SPDX-License-Identifier: Apache-2.0
//
// Which counters are counted together: passes over the same trial, never multiplexing.
//
// A CPU has few general counters, and on Skylake-family parts with TSX_FORCE_ABORT the fourth is
// the one that makes every transaction abort: using it would destroy what is measured (acceptance
// case A3). What does not fit into one pass goes into the next, and the trial runs once a pass.
//
// Sets that are read against each other stay in one pass where they fit: {start, commit, abort},
// {conflict, capacity}, the five categories, {cycles, cycles_t, cycles_ct}.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/counters/counter.hpp"
#include "profiler/counters/event_request.hpp"
#include "profiler/host/host_description.hpp"
#include "profiler/host/rtm_verdict.hpp"

namespace abortscope {

/// The reason of a counter that nobody wanted.
inline constexpr const char* not_asked_for = "not asked for";

struct PlanOptions {
    /// Use all counters even where the fourth makes transactions abort.
    bool allow_force_abort = false;
    /// At most this many general counters in a pass; 0: as many as the CPU has.
    unsigned most_per_pass = 0;
};

struct CounterPass {
    std::vector<EventRequest> hardware;  ///< one kernel group: counted together or not at all
    std::vector<EventRequest> software;  ///< another, which needs no counter of the CPU
    std::vector<Counter> usage;          ///< asked of getrusage(2): where perf_event_open may not
};

struct CounterPlan {
    std::vector<CounterPass> passes;  ///< at least one, perhaps empty
    /// Why a counter is in no pass; indexed by index_of, empty for those that are in one.
    std::array<std::string, counter_count> absent_reasons;
    unsigned general_counters = 0;  ///< that a logical processor has
    unsigned usable_counters = 0;   ///< of which a pass may use
    std::string budget_reason;      ///< why fewer than it has; empty if all

    /// The pass that counts `counter`, from 0; nothing if none does.
    std::optional<std::size_t> pass_of(Counter counter) const;

    /// The plan in lines, the last one not ended, as `--verbose` and `doctor` print it.
    std::string describe() const;
};

/// Plans `asked`; counters that were not asked for are absent with that as the reason.
CounterPlan plan_counters(std::span<const Counter> asked, const HostDescription& host,
                          const RtmVerdict& rtm, const PlanOptions& options = {});

}  // namespace abortscope
