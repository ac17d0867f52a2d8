// SPDX-License-Identifier: Apache-2.0
//
// A mutex for a program of one's own: elided where RTM commits, a futex mutex everywhere else, and
// statistics in both cases. A program uses it by its name on this computer,
// abortscope::elided_mutex of machines/native/elided_mutex.hpp.
//
// It meets the standard's Lockable: std::lock_guard, std::unique_lock, std::scoped_lock and
// std::condition_variable_any take it. How it differs from std::mutex:
//
//  * sections of different threads run side by side and commit one after another, unless they touch
//    the same cache lines;
//  * a section may run several times before it counts; a system call, a page fault or PAUSE in it
//    makes it run under the real lock;
//  * locking it again in its own section nests where it is elided, and deadlocks where it is not;
//  * try_lock inside another elided section succeeds on a lock that the section has elided;
//  * unlocking one that nobody holds is reported (lock_misuse.hpp), and nothing else happens.
#pragma once

#include "primitives/elided_lock.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/machine.hpp"
#include "primitives/retry_policy.hpp"

namespace abortscope {

template <Machine M>
class BasicElidedMutex {
  public:
    BasicElidedMutex() : BasicElidedMutex(*find_policy("kleen-wait")) {}
    /// `policy` outlives the mutex: a row of retry_policies, or one of the program's own.
    explicit BasicElidedMutex(const RetryPolicy& policy) : lock_(policy) {}

    void lock() { lock_.lock(); }
    bool try_lock() { return lock_.try_lock(); }
    void unlock() { lock_.unlock(); }

    /// Whether sections try a transaction: RTM commits on this computer, and the policy elides.
    bool elision_active() const { return lock_.elides(); }
    const RetryPolicy& policy() const { return lock_.policy(); }

    /// What the calling thread has counted over all its elided mutexes. Outside a section.
    static const AbortLog& this_thread_log() { return M::log(); }

  private:
    ElidedLock<M, FutexMutex<M>> lock_;
};

}  // namespace abortscope
