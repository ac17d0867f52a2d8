// SPDX-License-Identifier: Apache-2.0
//
// Native stress, written once for every lock: threads with worker numbers of their own hammer a
// lock, and plain (non-atomic) shared state tells whether two were ever inside. Under
// ThreadSanitizer the same state is a race that it reports.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "machines/native/native_machine.hpp"
#include "machines/native/team.hpp"

namespace abortscope::testing {

using Native = native::NativeMachine;

/// This computer, where a waiter that has paused a few times gives its CPU away: with more threads
/// than CPUs the owner of a spinlock is often not running, and a whole time slice passes otherwise.
struct PatientNative : Native {
    static void pause() {
        thread_local unsigned pauses = 0;
        Native::pause();
        if (++pauses % 16 == 0) Native::yield();
    }
    template <class T, class Predicate>
    static T spin_until(const std::atomic<T>& word, Predicate done,
                        std::uint32_t max_pauses = unbounded) {
        for (std::uint32_t paused = 0;; ++paused) {
            const T value = word.load(std::memory_order_acquire);
            if (done(value) || (paused == max_pauses && max_pauses != unbounded)) return value;
            pause();
        }
    }
};
static_assert(Machine<PatientNative>);

inline constexpr std::array<unsigned, 4> stress_threads{1, 2, 4, 8};

/// Acquisitions a thread makes: 8!, which the 8 kinds of steps below divide.
inline constexpr unsigned stress_rounds = 40320;

/// Runs body(worker) on that many threads at once.
inline void on_threads(unsigned threads, const std::function<void(unsigned)>& body) {
    native::Team team(threads, {});
    team.run(threads, body);
}

/// Two words that only the lock keeps equal.
struct Guarded {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

/// Every kind of exclusive acquisition; fails on a lost update, a torn pair or a deadlock.
template <class Lock>
void stress_exclusive(Lock& lock, unsigned threads, unsigned rounds = stress_rounds) {
    Guarded shared;
    std::atomic<std::uint64_t> acquired{0};
    std::atomic<std::uint64_t> torn{0};
    on_threads(threads, [&](unsigned worker) {
        std::uint64_t mine = 0;
        for (unsigned round = 0; round < rounds; ++round) {
            if ((round + worker) % 8 == 0) {
                if (!lock.try_lock()) continue;
            } else {
                lock.lock();
            }
            if (shared.first != shared.second) ++torn;
            ++shared.first;
            if (round % 64 == 0) Native::yield();  // be preempted inside now and then
            ++shared.second;
            ++mine;
            lock.unlock();
        }
        acquired += mine;
    });
    EXPECT_EQ(torn.load(), 0u);
    EXPECT_EQ(shared.first, acquired.load());
    EXPECT_EQ(shared.second, acquired.load());
    EXPECT_GE(acquired.load(), std::uint64_t{threads} * (rounds - rounds / 8));
}

/// One acquisition in four writes; readers check that no writer is half way.
template <class Lock>
void stress_shared(Lock& lock, unsigned threads, unsigned rounds = stress_rounds) {
    Guarded shared;
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint64_t> torn{0};
    on_threads(threads, [&](unsigned worker) {
        std::uint64_t mine = 0;
        for (unsigned round = 0; round < rounds; ++round) {
            switch ((round + worker) % 8) {
                case 0:
                    lock.lock();
                    ++shared.first;
                    if (round % 64 == 0) Native::yield();
                    ++shared.second;
                    ++mine;
                    lock.unlock();
                    break;
                case 1:
                    if (!lock.try_lock()) break;
                    ++shared.first;
                    ++shared.second;
                    ++mine;
                    lock.unlock();
                    break;
                case 2:
                    if (!lock.try_lock_shared()) break;
                    if (shared.first != shared.second) ++torn;
                    lock.unlock_shared();
                    break;
                default:
                    lock.lock_shared();
                    if (shared.first != shared.second) ++torn;
                    if (round % 64 == 0) Native::yield();
                    lock.unlock_shared();
            }
        }
        written += mine;
    });
    EXPECT_EQ(torn.load(), 0u);
    EXPECT_EQ(shared.first, written.load());
    EXPECT_EQ(shared.second, written.load());
}

}  // namespace abortscope::testing
