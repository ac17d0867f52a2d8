// SPDX-License-Identifier: Apache-2.0
//
// Wakes one waiting thread, also from a signal handler.
//
// A condition variable cannot be rung from a handler, and polling would disturb what is being
// measured; sem_post(3) is async-signal-safe.
#pragma once

#include <semaphore.h>

#include <cerrno>
#include <ctime>

namespace abortscope {

class Doorbell {
  public:
    Doorbell() { sem_init(&rings_, 0, 0); }
    ~Doorbell() { sem_destroy(&rings_); }
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    /// Async-signal-safe. Rings are counted: each ends one wait.
    void ring() noexcept { sem_post(&rings_); }

    void wait() noexcept {
        while (sem_wait(&rings_) != 0 && errno == EINTR) {
        }
    }

    /// False if nobody rang within a second.
    bool wait_a_second() noexcept {
        timespec limit{};
        clock_gettime(CLOCK_REALTIME, &limit);
        ++limit.tv_sec;
        while (sem_timedwait(&rings_, &limit) != 0) {
            if (errno == ETIMEDOUT) return false;
        }
        return true;
    }

  private:
    sem_t rings_{};
};

}  // namespace abortscope
