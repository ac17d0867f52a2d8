// SPDX-License-Identifier: Apache-2.0
//
// The plan, tried out: each counter must open, get a counter of the CPU and count a loop whose
// number of transactions is known, before a zero of it is believed.
//
// Counters that open and stay at zero are common in virtual machines (acceptance case A9); whole
// groups that never run, where something else holds a counter (A11). The first become absent; for
// the second the plan is made again with smaller groups.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "profiler/counters/counter_plan.hpp"
#include "profiler/counters/perf_system.hpp"

namespace abortscope {

/// Opens the event alone on the calling thread, and closes it; returns 0 or the errno. Where the
/// kernel may not be counted it is opened, and marked, for user mode only, unless what it counts
/// happens in the kernel.
int try_to_open(EventRequest& event, PerfSystem& perf);

/// What the loop did, by its own count.
struct KnownWork {
    std::uint64_t starts = 0;
    std::uint64_t commits = 0;
    std::uint64_t aborts = 0;
};

/// Some 100,000 cycles, and where RTM works 1,000 transactions, half of which abort.
KnownWork self_test_work(bool rtm_works);

/// Plans `asked` and tries the plan on the calling thread. What does not open, or does not count,
/// is absent with its reason; EACCES and EPERM are tried again for user mode only, and the
/// kernel's own counters of getrusage(2). Counters that the loop cannot move (conflicts, causes)
/// are believed if tx_start counts, which is added to `asked` for them. `work` is that loop.
CounterPlan tested_plan(std::span<const Counter> asked, const HostDescription& host,
                        const RtmVerdict& rtm, const PlanOptions& options, PerfSystem& perf,
                        const std::function<KnownWork()>& work);

/// The same for this computer, whose description, probe and kernel it takes.
CounterPlan tested_plan(std::span<const Counter> asked, const PlanOptions& options = {});

}  // namespace abortscope
