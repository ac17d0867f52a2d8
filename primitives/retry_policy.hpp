// SPDX-License-Identifier: Apache-2.0
//
// Retry policies: what an elided lock does after each abort. A policy is a row of a table.
//
// One acquisition outside any transaction runs this loop; each turn is one attempt (XBEGIN):
//
//     skip counter > 0                            decrement it, take the lock
//     waits_before_begin and the lock is busy     pause until it is free
//     attempt                                     started: elided; the lock busy: XABORT 0xff
//     aborted with status s of class c
//       attempts made = max_attempts              stop: take the lock
//       attempts made >= classes[c].max_attempts  stop: take the lock
//       no RETRY bit in s, class c heeds the hint and no_retry_budget is used up
//                                                 stop: take the lock
//       otherwise                                 wait, back off, next turn
//
// The class is coarser than rtm::Cause: `explicit_abort` is every XABORT but code 0xff, `other` is
// all that is neither explicit, capacity nor conflict.
//
// Inside a transaction the loop does not run: an inner acquisition nests, and every abort goes back
// to the outermost one's loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "primitives/machine.hpp"
#include "primitives/rtm_status.hpp"

namespace abortscope {

/// The classes of aborts that policies tell apart, in the order of RetryPolicy::classes.
enum class AbortClass : std::uint8_t { conflict, capacity, lock_busy, explicit_abort, other };

inline constexpr std::size_t abort_class_count = 5;

/// `status` must not be started().
constexpr AbortClass abort_class_of(rtm::Status status) {
    switch (rtm::cause_of(status)) {
        case rtm::Cause::conflict:
            return AbortClass::conflict;
        case rtm::Cause::capacity:
            return AbortClass::capacity;
        case rtm::Cause::lock_busy:
            return AbortClass::lock_busy;
        case rtm::Cause::explicit_abort:
            return AbortClass::explicit_abort;
        default:
            return AbortClass::other;
    }
}

/// What follows an abort of one class.
struct ClassRule {
    /// No retry once this many attempts, of whatever outcome, have been made.
    std::uint32_t max_attempts = unbounded;
    /// Abort without the RETRY bit: draws on no_retry_budget (else the missing hint is ignored).
    bool heeds_hint = true;
    /// Pause until the lock is free, at most RetryPolicy::wait_pauses, before the next attempt.
    bool waits_until_free = false;
    /// Then pause (1, 3, 5 or 7) * 2^attempts times.
    bool backs_off = false;
    /// Acquisitions that take the lock at once after this class ended a loop.
    std::uint16_t skip = 0;
};

/// How try_lock differs from lock. It never waits for the lock; where a policy's source does
/// (dpdk), the row says so.
struct TryLockRule {
    std::uint32_t max_attempts = unbounded;
    /// Inside a transaction XABORT 0xfd, instead of nesting (hazard H5: a nested try_lock of a lock
    /// that this worker already elides succeeds, where POSIX wants EBUSY).
    bool nested_aborts = false;
    bool waits_until_free = false;
    /// After the loop try the real lock; otherwise fail.
    bool takes_lock = true;
};

struct RetryPolicy {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    bool elides = true;
    std::uint32_t max_attempts = 1;
    std::uint32_t no_retry_budget = 0;  ///< aborts without RETRY that are forgiven
    std::array<ClassRule, abort_class_count> classes{};
    /// Bound of each wait for the lock; used up ends the loop.
    std::uint32_t wait_pauses = unbounded;
    bool waits_before_begin = false;
    bool skips_when_exhausted = false;  ///< max_attempts, not only a missing hint, starts a skip
    TryLockRule try_lock{};

    constexpr const ClassRule& rule_of(AbortClass abort_class) const {
        return classes[static_cast<std::size_t>(abort_class)];
    }
    /// Whether a lock under this policy needs a skip counter at all.
    constexpr bool skips() const {
        for (const ClassRule& rule : classes) {
            if (rule.skip != 0) return true;
        }
        return false;
    }
};

namespace detail {
inline constexpr std::array<ClassRule, abort_class_count> alike(ClassRule rule) {
    return {rule, rule, rule, rule, rule};
}
}  // namespace detail

/// In the order in which `list` shows them.
inline constexpr std::array<RetryPolicy, 8> retry_policies{{
    {.name = "none",
     .summary = "no elision: the plain lock",
     .source = "the baseline",
     .elides = false},

    {.name = "ovs2016",
     .summary = "10 attempts, the 6th abort without RETRY ends it, a busy lock is probed at once",
     .source = "Open vSwitch RFC patch, ovs-dev 2016-02: MAX_RETRY_XBEGIN 10, MAX_ABORT_RETRY 5",
     .max_attempts = 10,
     .no_retry_budget = 5},

    {.name = "kleen-wait",
     .summary = "waits until the lock is free; conflict 3 attempts, capacity 1, other 3",
     .source = "A. Kleen, tsx-tools locks/spin-rtm.c: RETRY_CON 3, RETRY_CAP 1, RETRY_OTHER 3",
     .max_attempts = 3,
     .classes = {{{.max_attempts = 3, .waits_until_free = true},
                  {.max_attempts = 1, .heeds_hint = false},
                  {.max_attempts = 3, .heeds_hint = false, .waits_until_free = true},
                  {.max_attempts = 3},
                  {.max_attempts = 3}}},
     .try_lock = {.max_attempts = 1}},

    {.name = "glibc",
     .summary = "3 attempts; an abort without RETRY takes the lock now and for 3 acquisitions more",
     .source = "glibc 2.36 elision-lock.c, elision-trylock.c, elision-conf.c: tries, skip_* = 3",
     .max_attempts = 3,
     .classes = detail::alike({.skip = 3}),
     .try_lock = {.max_attempts = 1, .nested_aborts = true}},

    // The patches count conflict and busy retries in one variable that starts at 3, spend the
    // pauses of all waits of an acquisition from one budget (here each wait has it), and skip by
    // RETRY before class (here by class, as the bits usually come).
    {.name = "kernel-adapt",
     .summary = "3 retries after a conflict or a busy lock, each waits at most 500 pauses; skips",
     .source = "A. Kleen, kernel RTM locks (2013, never merged), asm/elide.h and rtm-locks.c",
     .max_attempts = 4,
     .classes = {{{.waits_until_free = true, .skip = 3},
                  {.max_attempts = 1, .skip = 5},
                  {.heeds_hint = false, .waits_until_free = true, .skip = 3},
                  {.max_attempts = 1, .skip = 5},
                  {.max_attempts = 1, .skip = 5}}},
     .wait_pauses = 500,
     .skips_when_exhausted = true},

    // ck_elide's default configuration speaks of 256 retries of a busy lock and of skips. As
    // written neither is reached: its first test retries whatever the cause while retries are left,
    // they start at retry_conflict, and the loop ends when they are used up.
    {.name = "ck",
     .summary = "5 attempts whatever the cause, no wait",
     .source = "concurrencykit 0.7.1 ck_elide.h: lock_adaptive, DEFAULT_INITIALIZER; trylock",
     .max_attempts = 5,
     .classes = detail::alike({.heeds_hint = false}),
     .try_lock = {.max_attempts = 1, .takes_lock = false}},

    {.name = "tbb",
     .summary = "waits until the lock is free before each of 10 attempts; no RETRY ends it",
     .source = "oneTBB rtm_mutex.cpp: retry_threshold 10, speculation_retry",
     .max_attempts = 10,
     .waits_before_begin = true},

    {.name = "dpdk",
     .summary = "20 attempts; waits, and backs off at random after a conflict or a busy lock",
     .source = "DPDK x86 rte_spinlock.h: RTE_RTM_MAX_RETRIES 20, rte_try_tm",
     .max_attempts = 20,
     .classes = {{{.heeds_hint = false, .waits_until_free = true, .backs_off = true},
                  {.waits_until_free = true},
                  {.heeds_hint = false, .waits_until_free = true, .backs_off = true},
                  {.waits_until_free = true},
                  {.waits_until_free = true}}},
     .try_lock = {.waits_until_free = true}},
}};

/// The row of that name, or nullptr.
constexpr const RetryPolicy* find_policy(std::string_view name) {
    for (const RetryPolicy& policy : retry_policies) {
        if (policy.name == name) return &policy;
    }
    return nullptr;
}

/// The plain lock's row.
inline constexpr const RetryPolicy& no_elision = retry_policies[0];

}  // namespace abortscope
