// SPDX-License-Identifier: Apache-2.0
//
// The three-state futex mutex: one word, no system call unless somebody sleeps.
//
//   word | meaning                    | lock                  | unlock
//   -----+----------------------------+-----------------------+------------------------
//     0  | free                       | CAS 0 -> 1, acquire   | misuse
//     1  | held, nobody sleeps        | exchange 2, sleep     | exchange 0, release
//     2  | held, somebody may sleep   | exchange 2, sleep     | exchange 0, wake one
//
// Invariants: whoever slept, or is about to, took the word to 2 first; whoever was woken takes the
// lock by exchange with 2, because others may sleep still, so that its unlock wakes the next. A
// wake-up can therefore be superfluous, never lost. Not FIFO: a newcomer may overtake the woken.
//
// Source: U. Drepper, "Futexes Are Tricky" (2011), mutex2; its unlock by fetch_sub and store is one
// exchange here.
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M>
class FutexMutex {
  public:
    void lock() {
        std::uint32_t seen = free;
        if (word_.compare_exchange_strong(seen, held, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
            return;
        }
        if (seen != contended) seen = word_.exchange(contended, std::memory_order_acquire);
        while (seen != free) {
            M::futex_wait(word_, contended, forever_ns);
            seen = word_.exchange(contended, std::memory_order_acquire);
        }
    }

    bool try_lock() {
        std::uint32_t seen = free;
        return word_.compare_exchange_strong(seen, held, std::memory_order_acquire,
                                             std::memory_order_relaxed);
    }

    void unlock() {
        if (word_.exchange(free, std::memory_order_release) == contended) {
            M::futex_wake(word_, 1);
        }
    }

    /// What elision subscribes to: the lock's own word.
    bool is_free() const { return word_.load(std::memory_order_relaxed) == free; }

    /// Pauses, at most `max_pauses` times, until the lock was seen free; returns whether it was.
    bool spin_until_free(std::uint32_t max_pauses) {
        return M::spin_until(
                   word_, [](std::uint32_t word) { return word == free; }, max_pauses) == free;
    }

  private:
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t held = 1;
    static constexpr std::uint32_t contended = 2;

    typename M::template Atomic<std::uint32_t> word_{free};
};

}  // namespace abortscope
