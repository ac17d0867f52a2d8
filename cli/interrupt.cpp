// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <atomic>
#include <cstddef>

namespace abortscope::cli {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<TrialQueue*> running{nullptr};
static_assert(std::atomic<TrialQueue*>::is_always_lock_free, "the handler loads it");

void on_signal(int) {
    if (TrialQueue* queue = running.load()) queue->interrupt();
}

}  // namespace

InterruptGuard::InterruptGuard(TrialQueue& queue) {
    running.store(&queue);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // so that a second one kills
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(signals); ++i) {
        sigaction(signals[i], nullptr, &previous_[i]);
        // What the parent ignores stays ignored: nohup and `&` of a script.
        if (previous_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
}

InterruptGuard::~InterruptGuard() {
    for (std::size_t i = 0; i < std::size(signals); ++i) {
        sigaction(signals[i], &previous_[i], nullptr);
    }
    running.store(nullptr);
}

}  // namespace abortscope::cli
