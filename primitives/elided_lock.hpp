// SPDX-License-Identifier: Apache-2.0
//
// A lock under RTM elision: any lock of this folder, run by a retry policy.
//
//     ElidedLock<M, FutexMutex<M>> lock(*find_policy("ovs2016"));
//     lock.lock();    // starts a transaction that reads, and never writes, the lock's word
//     ...
//     lock.unlock();  // commits it
//
// The lock underneath gives lock, try_lock, unlock (and their shared forms), is_free(), which loads
// the word that every acquisition writes, and spin_until_free(max_pauses). A reader-writer lock is
// elided only where its word is wholly free, for readers and writers alike, so that unlock can tell
// elided from real by the word.
//
//   unlock finds the word | inside a transaction       | outside
//   ----------------------+----------------------------+---------------------------------
//   free                  | commit                     | misuse: reported, not executed
//   not free              | the real unlock            | the real unlock
//
// Under a policy that does not elide, or on a machine whose transactions never commit, it is the
// plain lock; a free word is then a misuse wherever it is found, and no transaction of an outer
// lock is touched (hazards H2, H11). The destructor touches none either (H1).
//
// A lock that is free and not elided by its caller, unlocked inside the transaction of another one,
// commits that one early; the other one's unlock then reports the misuse.
//
// Statistics go to the worker's AbortLog: attempts and aborts between transactions, an elided
// acquisition after the outermost commit, a nested one by nested_elided. A real acquisition inside
// an outer lock's transaction lives and dies with it, and counts as nested.
//
// The adaptive skip counter has a line of its own and is written only when it changes, relaxed: on
// the lock's line each write would abort every elider. Updates may be lost; it is a hint.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "primitives/lock_misuse.hpp"
#include "primitives/machine.hpp"
#include "primitives/retry_policy.hpp"

namespace abortscope {

template <class Lock>
concept SharedLockable = requires(Lock& lock) {
    lock.lock_shared();
    lock.unlock_shared();
    { lock.try_lock_shared() } -> std::same_as<bool>;
};

template <Machine M, class Lock>
class ElidedLock {
  public:
    /// `policy` outlives the lock; `arguments` construct the lock underneath.
    template <class... Arguments>
    explicit ElidedLock(const RetryPolicy& policy, const Arguments&... arguments)
        : lock_(arguments...), policy_(&policy), elides_(policy.elides && M::rtm_available()) {}
    ElidedLock(const ElidedLock&) = delete;
    ElidedLock& operator=(const ElidedLock&) = delete;

    void lock() {
        if (elide(lock_budget())) return;
        step(LockStep::waits);
        lock_.lock();
        took_lock();
    }
    void lock_shared() requires SharedLockable<Lock> {
        if (elide(lock_budget())) return;
        step(LockStep::waits);
        lock_.lock_shared();
        took_lock();
    }

    bool try_lock() {
        return try_acquire([this] { return lock_.try_lock(); });
    }
    bool try_lock_shared() requires SharedLockable<Lock> {
        return try_acquire([this] { return lock_.try_lock_shared(); });
    }

    void unlock() {
        if (end_elision()) return;
        step(LockStep::releases);
        lock_.unlock();
    }
    void unlock_shared() requires SharedLockable<Lock> {
        if (end_elision()) return;
        step(LockStep::releases);
        lock_.unlock_shared();
    }

    bool is_free() const { return lock_.is_free(); }
    bool spin_until_free(std::uint32_t max_pauses) { return lock_.spin_until_free(max_pauses); }

    /// Whether acquisitions try a transaction at all.
    bool elides() const { return elides_; }
    const RetryPolicy& policy() const { return *policy_; }
    Lock& underlying() { return lock_; }

  private:
    static constexpr std::size_t line = 64;

    /// What one call may spend; lives in the frame that XBEGIN restores.
    struct Budget {
        std::uint32_t max_attempts;
        bool waits;  // for the lock to become free
        bool is_try;
    };
    Budget lock_budget() const { return {policy_->max_attempts, true, false}; }
    Budget try_lock_budget() const {
        const TryLockRule& rule = policy_->try_lock;
        return {std::min(policy_->max_attempts, rule.max_attempts), rule.waits_until_free, true};
    }

    template <class TryLock>
    bool try_acquire(TryLock try_lock) {
        if (elide(try_lock_budget())) return true;
        if ((elides_ && !policy_->try_lock.takes_lock) || !try_lock()) {
            step(LockStep::gives_up);
            return false;
        }
        took_lock();
        return true;
    }

    /// True: the caller is inside a transaction that has this lock's free word in its read set.
    bool elide(Budget budget) {
        if (!elides_) return false;
        if (M::in_transaction()) {
            if (budget.is_try && policy_->try_lock.nested_aborts) {
                M::template abort<rtm::code::nested_trylock>();
            }
            (void)M::begin(
                static_cast<const void*>(&lock_));  // an abort returns from the outermost
            subscribe();
            return true;
        }
        if (use_up_skip()) return false;
        return elide_outermost(budget);
    }

    bool elide_outermost(Budget budget) {
        AbortLog& log = M::log();
        std::uint32_t no_retry_left = policy_->no_retry_budget;
        for (std::uint32_t attempts = 1;; ++attempts) {
            if (policy_->waits_before_begin && !lock_.is_free()) {
                if (!budget.waits) return false;
                step(LockStep::waits);
                if (!lock_.spin_until_free(policy_->wait_pauses)) return false;
            }
            ++log.attempts;
            const rtm::Status status = M::begin(static_cast<const void*>(&lock_));
            if (status.is_started()) {
                subscribe();
                return true;
            }
            log.record_abort(status);

            const ClassRule& rule = policy_->rule_of(abort_class_of(status));
            if (attempts >= budget.max_attempts || attempts >= rule.max_attempts) {
                if (policy_->skips_when_exhausted || !status.has(rtm::StatusBit::retry)) {
                    start_skip(rule.skip);
                }
                return false;
            }
            if (rule.heeds_hint && !status.has(rtm::StatusBit::retry)) {
                if (no_retry_left == 0) {
                    start_skip(rule.skip);
                    return false;
                }
                --no_retry_left;
            }
            if (rule.waits_until_free && budget.waits) {
                step(LockStep::waits);
                if (!lock_.spin_until_free(policy_->wait_pauses)) {
                    start_skip(rule.skip);
                    return false;
                }
            }
            if (rule.backs_off) back_off(attempts);
        }
    }

    /// Puts the lock's word into the read set: whoever takes the lock from here on aborts us.
    void subscribe() {
        if (!lock_.is_free()) M::template abort<rtm::code::lock_busy>();
    }

    static void back_off(std::uint32_t attempts) {
        const std::uint64_t pauses = ((M::now_ns() & 7u) | 1u) << attempts;
        for (std::uint64_t i = 0; i < pauses; ++i) M::pause();
    }

    bool use_up_skip() {
        if (!policy_->skips()) return false;
        const std::uint32_t left = skip_.load(std::memory_order_relaxed);
        if (left == 0) return false;
        skip_.store(left - 1, std::memory_order_relaxed);
        return true;
    }

    void start_skip(std::uint32_t acquisitions) {
        if (acquisitions == 0 || skip_.load(std::memory_order_relaxed) == acquisitions) return;
        skip_.store(acquisitions, std::memory_order_relaxed);
    }

    void step(LockStep step) { M::lock_step(step, static_cast<const void*>(&lock_)); }

    void took_lock() {
        step(LockStep::takes);
        AbortLog& log = M::log();
        if (M::in_transaction()) {
            ++log.nested_elided;
        } else if (elides_) {
            log.record_fallback();
        } else {
            log.record_plain();
        }
    }

    /// True: nothing is left to unlock.
    bool end_elision() {
        if (!lock_.is_free()) return false;
        AbortLog& log = M::log();
        if (!elides_ || !M::in_transaction()) {
            // A report from inside a transaction would be undone; its next run may be a real one.
            M::template abort<rtm::code::state_query>();
            ++log.misuses;
            report_misuse(this);
            return true;
        }
        M::commit();
        if (M::in_transaction()) {
            ++log.nested_elided;
        } else {
            log.record_commit();
        }
        return true;
    }

    alignas(line) Lock lock_;
    // On the lock's line, which an elided section reads anyway: one line less in its read set.
    const RetryPolicy* policy_;
    bool elides_;
    alignas(line) typename M::template Atomic<std::uint32_t> skip_{0};
};

}  // namespace abortscope
