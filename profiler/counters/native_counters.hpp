// SPDX-License-Identifier: Apache-2.0
//
// The counters of a native trial: hooks of a team, one kernel group a worker, one pass a run.
//
//     const CounterPlan plan = tested_plan(asked);
//     for (std::size_t pass = 0; pass < plan.passes.size(); ++pass) {
//         NativeCounters counters(plan, pass, workers, host);
//         for (each phase) {
//             team.run(workers, body, &counters);
//             merge_pass(readings[phase], counters.take());
//         }
//     }
//
// Each worker opens its own counters before its first phase, and enables, disables and reads them
// outside the phase barrier: inside a phase there is no system call.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "machines/native/team.hpp"
#include "profiler/counters/counter.hpp"
#include "profiler/counters/counter_group.hpp"
#include "profiler/counters/counter_plan.hpp"
#include "profiler/counters/thread_usage.hpp"

namespace abortscope {

/// The reason of a counter that is not in the pass that ran.
inline constexpr const char* counted_in_another_pass = "counted in another pass";

class NativeCounters final : public native::WorkerHooks {
  public:
    /// `plan` and `host` must outlive it. Throws std::out_of_range for a pass that the plan lacks.
    NativeCounters(const CounterPlan& plan, std::size_t pass, unsigned workers,
                   const HostDescription& host, PerfSystem& perf = kernel_perf());

    void before(unsigned worker) noexcept override;
    void after(unsigned worker) noexcept override;

    /// The sums over the workers of the phase that has just ended. Counters of other passes are
    /// absent, with that as the reason.
    Readings take();

    /// Those of the phase that was taken last, of all workers, by getrusage(2).
    std::uint64_t involuntary_switches() const { return involuntary_switches_; }

    /// The same worker by worker, for those that took part.
    std::vector<Readings> take_workers();

  private:
    struct alignas(128) Worker {
        explicit Worker(PerfSystem& perf) : hardware(perf), software(perf) {}
        CounterGroup hardware;
        CounterGroup software;
        ThreadUsage usage_before;
        ThreadUsage usage;
        std::array<Sample, CounterGroup::most_events> hardware_samples{};
        std::array<Sample, CounterGroup::most_events> software_samples{};
        bool opened = false;
        bool took_part = false;
    };
    Readings readings_of(const Worker& worker) const;

    const CounterPlan& plan_;
    const CounterPass& pass_;
    const HostDescription& host_;
    std::vector<Worker> workers_;
    std::uint64_t involuntary_switches_ = 0;
};

/// Takes over the counters that `pass` has a value or a reason of its own for.
void merge_pass(Readings& into, const Readings& pass);

/// tx_start - tx_commit - tx_abort, which is 0 but for regions that the counters' start or stop
/// has cut; nothing if one of them is absent.
std::optional<std::int64_t> outcome_residue(const Readings& readings);

}  // namespace abortscope
