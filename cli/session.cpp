// SPDX-License-Identifier: Apache-2.0
#include "cli/session.hpp"

#include <optional>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"

namespace abortscope::cli {

double SessionResult::accesses_per_s() const {
    if (simulating_ns == 0) return 0;
    return static_cast<double>(simulated_accesses) * 1e9 / static_cast<double>(simulating_ns);
}

TrialResult run_as_specified(const Trial& trial) {
    return run_trial(*trial.scenario, trial.spec);
}

SessionResult run_session(std::vector<Trial> trials, unsigned jobs, bool show_progress,
                          const std::function<void(TrialResult)>& take, TrialQueue::Run run) {
    SessionResult session;
    session.trials = trials.size();
    TrialQueue queue(std::move(trials), jobs, std::move(run));
    const InterruptGuard guard(queue);
    Progress progress(queue.size(), show_progress);
    std::function<void()> idle;
    if (progress.shown()) idle = [&] { progress.refresh(); };
    try {
        while (std::optional<TrialResult> result = queue.next(idle)) {
            ++session.trials_run;
            session.simulated_accesses += result->simulated_accesses;
            if (result->simulated_accesses != 0) session.simulating_ns += result->host_ns;
            progress.clear();
            take(std::move(*result));
            progress.advance();
        }
    } catch (...) {
        queue.interrupt();  // nobody wants to wait for the trials that still run
        throw;
    }
    session.interrupted = queue.interrupted();
    return session;
}

}  // namespace abortscope::cli
