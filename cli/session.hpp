// SPDX-License-Identifier: Apache-2.0
//
// Runs a list of trials for a command: with progress on a terminal, ended early and in good order
// by Ctrl-C.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/trial_queue.hpp"

namespace abortscope::cli {

struct SessionResult {
    std::size_t trials = 0;
    std::size_t trials_run = 0;
    std::uint64_t simulated_accesses = 0;
    std::uint64_t simulating_ns = 0;  ///< time of the host threads that simulated
    bool interrupted = false;

    /// Per second and host thread; 0 where nothing was simulated.
    double accesses_per_s() const;
};

TrialResult run_as_specified(const Trial& trial);

/// Gives each trial's result to `take`, in the trials' order. What `take` or a trial throws ends
/// the session and is rethrown. `run` runs one trial, by default as its spec says; what it uses it
/// owns, as after an interrupt it may still be running when this has returned.
SessionResult run_session(std::vector<Trial> trials, unsigned jobs, bool show_progress,
                          const std::function<void(TrialResult)>& take,
                          TrialQueue::Run run = run_as_specified);

}  // namespace abortscope::cli
