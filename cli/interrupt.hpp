// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C, SIGTERM and SIGHUP while a queue of trials runs: the first ends it after the rows that
// are done, the second kills.
#pragma once

#include <csignal>

#include "profiler/trial_queue.hpp"

namespace abortscope::cli {

class InterruptGuard {
  public:
    /// At most one at a time.
    explicit InterruptGuard(TrialQueue& queue);
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

  private:
    struct sigaction previous_[3]{};
};

}  // namespace abortscope::cli
