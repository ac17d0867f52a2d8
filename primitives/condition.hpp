// SPDX-License-Identifier: Apache-2.0
//
// A condition variable over a FutexMutex: a count of signals that waiters sleep on.
//
//   wait(mutex)  read the count under the mutex, unlock, sleep while the count is the same, lock
//   signal()     raise the count, wake one
//
// A signal between a waiter's unlock and its sleep changes the count, and the sleep returns at
// once. wait may return without a signal: test the condition again. No order among waiters.
//
// Source: the simple futex condition variable of U. Drepper, "Futexes Are Tricky" (2011).
#pragma once

#include <cstdint>

#include "primitives/futex_mutex.hpp"
#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M>
class Condition {
  public:
    /// The caller holds the mutex, before and after.
    void wait(FutexMutex<M>& mutex) {
        const std::uint32_t seen = signals_.load(std::memory_order_relaxed);
        mutex.unlock();
        M::futex_wait(signals_, seen, forever_ns);
        mutex.lock();
    }

    void signal() {
        signals_.fetch_add(1, std::memory_order_relaxed);
        M::futex_wake(signals_, 1);
    }

  private:
    typename M::template Atomic<std::uint32_t> signals_{0};
};

}  // namespace abortscope
