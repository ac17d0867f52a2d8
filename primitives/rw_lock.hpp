// SPDX-License-Identifier: Apache-2.0
//
// A plain reader-writer lock that sleeps on futexes: one state word that everybody touches.
//
//   state_  31: a writer may sleep | 30: a reader may sleep | 29..0: readers, all ones = a writer
//
//   state_             | lock_shared          | lock                 | unlock…
//   -------------------+----------------------+----------------------+-----------------------------
//   0                  | CAS +1, acquire      | CAS to writer        | misuse
//   readers, no sleeper| CAS +1, acquire      | set 31, sleep        | last reader: to 0
//   a sleeper is marked| set 30, sleep        | set 31, sleep        | last one out wakes
//   writer             | set 30, sleep        | set 31, sleep        | wakes if marked
//
// Writers are preferred: a marked sleeper keeps new readers out, and who leaves last wakes a writer
// before the readers. Readers sleep on state_ itself; writers sleep on writer_wakes_, a count of
// wake-ups, so that one writer is woken and not the herd. A woken writer keeps bit 31, because
// others may sleep still. A writer reads writer_wakes_ before it tests state_ for the last time: a
// wake-up in between changes the count and its futex_wait returns at once.
//
// Shape after the futex reader-writer lock of Rust's standard library (library/std, 2022).
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M>
class RwLock {
  public:
    void lock_shared() {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        if (readable(state) &&
            state_.compare_exchange_weak(state, state + one_reader, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
            return;
        }
        lock_shared_slow();
    }

    bool try_lock_shared() {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        while (readable(state)) {
            if (state_.compare_exchange_weak(state, state + one_reader, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    void unlock_shared() {
        const std::uint32_t left = state_.fetch_sub(one_reader, std::memory_order_release) - 1;
        // Readers never sleep behind readers alone, so that a lone bit 30 cannot show here.
        if (unlocked(left) && (left & writer_sleeps) != 0) wake(left);
    }

    void lock() {
        std::uint32_t state = 0;
        if (!state_.compare_exchange_strong(state, writer, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
            lock_slow();
        }
    }

    bool try_lock() {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        while (unlocked(state)) {
            if (state_.compare_exchange_weak(state, state | writer, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    void unlock() {
        const std::uint32_t left = state_.fetch_sub(writer, std::memory_order_release) - writer;
        if (left != 0) wake(left);
    }

    /// No reader, no writer, nobody marked: what elision subscribes to. An elided section of either
    /// kind sees this hold until its commit, so that unlock can tell elided from real.
    bool is_free() const { return state_.load(std::memory_order_relaxed) == 0; }

    bool spin_until_free(std::uint32_t max_pauses) {
        return M::spin_until(
                   state_, [](std::uint32_t state) { return state == 0; }, max_pauses) == 0;
    }

  private:
    static constexpr std::uint32_t one_reader = 1;
    static constexpr std::uint32_t writer = (1u << 30) - 1;
    static constexpr std::uint32_t most_readers = writer - 1;
    static constexpr std::uint32_t reader_sleeps = 1u << 30;
    static constexpr std::uint32_t writer_sleeps = 1u << 31;

    static constexpr bool unlocked(std::uint32_t state) { return (state & writer) == 0; }
    static constexpr bool readable(std::uint32_t state) { return state < most_readers; }

    void lock_shared_slow() {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        for (;;) {
            if (readable(state)) {
                if (state_.compare_exchange_weak(state, state + one_reader,
                                                 std::memory_order_acquire,
                                                 std::memory_order_relaxed)) {
                    return;
                }
                continue;
            }
            if ((state & reader_sleeps) == 0 &&
                !state_.compare_exchange_weak(state, state | reader_sleeps,
                                              std::memory_order_relaxed,
                                              std::memory_order_relaxed)) {
                continue;
            }
            M::futex_wait(state_, state | reader_sleeps, forever_ns);
            state = state_.load(std::memory_order_relaxed);
        }
    }

    void lock_slow() {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        std::uint32_t others = 0;  // bit 31 once this writer has slept: others may sleep still
        for (;;) {
            if (unlocked(state)) {
                if (state_.compare_exchange_weak(state, state | writer | others,
                                                 std::memory_order_acquire,
                                                 std::memory_order_relaxed)) {
                    return;
                }
                continue;
            }
            if ((state & writer_sleeps) == 0 &&
                !state_.compare_exchange_weak(state, state | writer_sleeps,
                                              std::memory_order_relaxed,
                                              std::memory_order_relaxed)) {
                continue;
            }
            others = writer_sleeps;
            const std::uint32_t wakes = writer_wakes_.load(std::memory_order_acquire);
            state = state_.load(std::memory_order_relaxed);
            if (unlocked(state) || (state & writer_sleeps) == 0) continue;
            M::futex_wait(writer_wakes_, wakes, forever_ns);
            state = state_.load(std::memory_order_relaxed);
        }
    }

    /// `state`: what the last one out left, unlocked and marked. Whoever takes the lock meanwhile
    /// inherits the marks and wakes in its own unlock.
    void wake(std::uint32_t state) {
        if (state == writer_sleeps) {
            if (state_.compare_exchange_strong(state, 0, std::memory_order_relaxed,
                                               std::memory_order_relaxed)) {
                wake_one_writer();
                return;
            }
        }
        if (state == (writer_sleeps | reader_sleeps)) {
            if (!state_.compare_exchange_strong(state, reader_sleeps, std::memory_order_relaxed,
                                                std::memory_order_relaxed)) {
                return;
            }
            if (wake_one_writer()) return;  // its unlock wakes the readers
            state = reader_sleeps;          // nobody slept: a writer that gave up its mark in time
        }
        if (state == reader_sleeps &&
            state_.compare_exchange_strong(state, 0, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
            M::futex_wake(state_, unbounded);
        }
    }

    bool wake_one_writer() {
        writer_wakes_.fetch_add(1, std::memory_order_release);
        return M::futex_wake(writer_wakes_, 1) > 0;
    }

    typename M::template Atomic<std::uint32_t> state_{0};
    typename M::template Atomic<std::uint32_t> writer_wakes_{0};
};

}  // namespace abortscope
