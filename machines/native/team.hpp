// SPDX-License-Identifier: Apache-2.0
//
// The workers of one native trial: threads that live as long as the team and run its phases.
//
// A phase, on each worker that takes part:
//
//   asleep -> gate -> hooks.before -> gate -> body -> hooks.after -> asleep
//                                      |         |
//                                      +- timed -+
//
// The first gate brings all workers awake, so that what a counter enabled by `before` sees of the
// second gate is the skew of the hooks, not the time it takes to wake a thread. Workers that do
// not take part stay asleep.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "primitives/abort_log.hpp"

namespace abortscope::native {

/// Called on the worker's own thread, on either side of each phase, outside the phase barrier:
/// where per-thread counters are opened, enabled and read. Neither may throw.
class WorkerHooks {
  public:
    virtual ~WorkerHooks() = default;
    virtual void before(unsigned worker) noexcept = 0;
    virtual void after(unsigned worker) noexcept = 0;
};

class Team {
  public:
    /// Starts `workers` threads; worker i is pinned to cpus[i mod size], or not at all if `cpus`
    /// is empty. Throws std::system_error if a thread or its affinity cannot be had, and
    /// std::invalid_argument for a team of none.
    Team(unsigned workers, std::span<const unsigned> cpus);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// Runs body(worker) on workers 0..count-1, released together, and returns how long it took in
    /// ns, from the release to the last one's end. Nothing is allocated between. Rethrows the
    /// exception of the first worker (by number) that threw, once all have ended: a body that
    /// waits for a worker that has thrown waits for ever. One phase at a time.
    std::uint64_t run(unsigned count, const std::function<void(unsigned)>& body,
                      WorkerHooks* hooks = nullptr);

    /// The log of each worker; read it between phases.
    std::span<AbortLog> logs();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace abortscope::native
