// SPDX-License-Identifier: Apache-2.0
//
// Runs trials side by side and hands out their results in the trials' order.
//
//     TrialQueue queue(trials, jobs, run);
//     while (std::optional<TrialResult> result = queue.next()) write(result->rows);
//
// Model trials run on `jobs` host threads. A native trial starts when all before it have ended,
// and none starts before it has: it measures the computer and wants it for itself. The order of
// the results, and so every byte that is made of them, does not depend on `jobs`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/sweep.hpp"
#include "profiler/trial_runner.hpp"

namespace abortscope {

class TrialQueue {
  public:
    using Run = std::function<TrialResult(const Trial&)>;

    /// Starts at once. `run` is called on several threads.
    TrialQueue(std::vector<Trial> trials, unsigned jobs, Run run);

    /// Waits for the trials that run, unless the queue was interrupted: then their threads are
    /// left behind.
    ~TrialQueue();
    TrialQueue(const TrialQueue&) = delete;
    TrialQueue& operator=(const TrialQueue&) = delete;

    /// The result of the next trial, waiting for it; nothing after the last one. Rethrows what the
    /// trial threw; the trials after it are not handed out. `idle`, if given, is called about once
    /// a second while waiting.
    std::optional<TrialResult> next(const std::function<void()>& idle = {});

    /// Async-signal-safe: no further trial starts, and `next` hands out what is done and skips what
    /// is not.
    void interrupt() noexcept;
    bool interrupted() const noexcept;

    std::size_t size() const;

  private:
    struct State;
    std::shared_ptr<State>
        state_;  // shared with the threads, which may outlive an interrupted queue
    std::size_t next_ = 0;
};

/// Whether threads of an interrupted queue may still run: the process must then end by _exit, as
/// they use what exit would destroy.
bool trials_left_behind() noexcept;

}  // namespace abortscope
