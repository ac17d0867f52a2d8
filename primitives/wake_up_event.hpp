// SPDX-License-Identifier: Apache-2.0
//
// How producers wake the one worker of a call_rcu queue: every form it has had in liburcu, with its
// bugs, as rows of a table.
//
// The final protocol has one word:
//
//   word | meaning               | worker                          | ring (any producer)
//   -----+-----------------------+---------------------------------+------------------------------
//     0  | awake, or wake posted | arms: 0 -> -1, fence            | fence; nothing
//    -1  | means to sleep        | nothing to do: futex_wait(-1)   | fence; -1 -> 0, futex_wake 1
//
// The worker arms when it starts and after each wait, and looks at its queue after that; a producer
// queues, and looks at the word after that: with a full fence between store and load on both
// sides, one of them sees the other. Invariants: the word is 0 or -1; only the worker decrements
// it, and only from 0; a wait ends with 0. A decrement from anything else leaves -2, which neither
// side recognises: the worker never sleeps again, and nobody wakes it.
//
// After each pass the worker sleeps for `batch_delay_ns`, so that a grace period serves many
// callbacks. The condvar forms of 2011 did so under the mutex that every producer takes.
//
// ring on an awake worker only loads the word; on a sleeping one it is a system call, which aborts
// a transaction.
//
// Source: liburcu urcu-call-rcu-impl.h; the rows name the commits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "primitives/condition.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/machine.hpp"

namespace abortscope {

/// When the worker of a futex form decrements the word.
enum class Arming : std::uint8_t { never, each_pass, after_each_wait };

enum class WakeUpKind : std::uint8_t { polling, condvar, futex };

struct WakeUpForm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    WakeUpKind kind = WakeUpKind::futex;
    bool delays_under_mutex = false;          ///< condvar: the batch delay, inside
    Arming arming = Arming::after_each_wait;  ///< futex
    bool interruption_ends_wait = false;      ///< futex: EINTR taken for a wake-up
    bool return_ends_wait = false;            ///< futex: any return of 0 taken for a wake-up
};

/// In historical order; the last two are right.
inline constexpr std::array<WakeUpForm, 8> wake_up_forms{{
    {.name = "condvar-in-mutex",
     .summary = "mutex and condvar, the batch delay under the mutex",
     .source = "liburcu before 2011-06-07",
     .kind = WakeUpKind::condvar,
     .delays_under_mutex = true},
    {.name = "condvar",
     .summary = "the same, the batch delay after the unlock",
     .source = "the control experiment to the row above",
     .kind = WakeUpKind::condvar},
    {.name = "futex-never-armed",
     .summary = "never decremented: the worker polls and is never woken",
     .source = "liburcu 263e3cf (2011-06-07), the thread's patch",
     .arming = Arming::never},
    {.name = "futex-each-pass",
     .summary = "decremented on every pass: runs below -1 when the queue was not empty",
     .source = "liburcu c768e45 (2011-06-08)",
     .arming = Arming::each_pass},
    {.name = "futex-eintr",
     .summary = "a signal ends the wait with the word still -1",
     .source = "liburcu before 11eb040 (2015-07)",
     .interruption_ends_wait = true,
     .return_ends_wait = true},
    {.name = "futex-spurious",
     .summary = "a spurious return ends the wait with the word still -1",
     .source = "liburcu before 4b783ba (2022-06)",
     .return_ends_wait = true},
    {.name = "futex", .summary = "the final protocol", .source = "liburcu 0.14 (2022)"},
    {.name = "polling",
     .summary = "real-time mode: the worker looks every batch delay, nobody wakes it",
     .source = "liburcu URCU_CALL_RCU_RT",
     .kind = WakeUpKind::polling},
}};

/// The row of that name, or nullptr.
constexpr const WakeUpForm* find_wake_up_form(std::string_view name) {
    for (const WakeUpForm& form : wake_up_forms) {
        if (form.name == name) return &form;
    }
    return nullptr;
}

template <Machine M>
class alignas(64) WakeUpEvent {
  public:
    static constexpr std::uint64_t default_batch_delay_ns = 10'000'000;

    /// `form` outlives the event.
    explicit WakeUpEvent(const WakeUpForm& form,
                         std::uint64_t batch_delay_ns = default_batch_delay_ns)
        : form_(&form), batch_delay_ns_(batch_delay_ns) {}

    // --- the worker ---

    void start() {
        if (form_->arming == Arming::after_each_wait) arm();
    }
    /// At the top of each pass, before it looks at the queue.
    void begin_pass() {
        if (form_->arming == Arming::each_pass) arm();
    }
    /// At the end of each pass: sleeps until rung unless has_work() holds, then for the batch
    /// delay. Returns how often it really slept for a wake-up.
    template <class HasWork>
    unsigned end_pass(HasWork has_work) {
        switch (form_->kind) {
            case WakeUpKind::polling:
                M::sleep_for_ns(batch_delay_ns_);
                return 0;
            case WakeUpKind::condvar:
                return end_pass_by_condvar(has_work);
            case WakeUpKind::futex:
                break;
        }
        if (has_work()) {
            M::sleep_for_ns(batch_delay_ns_);
            return 0;
        }
        const unsigned sleeps = wait();
        M::sleep_for_ns(batch_delay_ns_);
        if (form_->arming == Arming::after_each_wait) arm();
        return sleeps;
    }
    void stop() {
        M::fence(std::memory_order_seq_cst);
        word_.store(awake, std::memory_order_relaxed);
    }

    // --- any producer ---

    /// After it has queued something, or set a flag that has_work() tests. Returns whether it made
    /// a wake-up call.
    bool ring() {
        switch (form_->kind) {
            case WakeUpKind::polling:
                return false;
            case WakeUpKind::condvar:
                return ring_by_condvar();
            case WakeUpKind::futex:
                break;
        }
        M::fence(std::memory_order_seq_cst);
        if (word_.load(std::memory_order_relaxed) != asleep) return false;
        word_.store(awake, std::memory_order_relaxed);
        M::futex_wake(word_, 1);
        return true;
    }

    /// The word, as the protocol reads it: 0 or -1, and anything else is a bug.
    std::int32_t value() const {
        return static_cast<std::int32_t>(word_.load(std::memory_order_relaxed));
    }
    /// For tests: a return of futex_wait that nobody meant.
    void wake_spuriously() { M::futex_wake(word_, 1); }

  private:
    static constexpr std::uint32_t awake = 0;
    static constexpr std::uint32_t asleep = ~std::uint32_t{0};

    void arm() {
        word_.fetch_sub(1, std::memory_order_relaxed);
        M::fence(std::memory_order_seq_cst);
    }

    unsigned wait() {
        unsigned sleeps = 0;
        M::fence(std::memory_order_seq_cst);
        while (word_.load(std::memory_order_relaxed) == asleep) {
            switch (M::futex_wait(word_, asleep, forever_ns)) {
                case FutexResult::woken:
                    ++sleeps;
                    if (form_->return_ends_wait) return sleeps;
                    break;
                case FutexResult::interrupted:
                    ++sleeps;
                    if (form_->interruption_ends_wait) return sleeps;
                    break;
                case FutexResult::value_changed:
                case FutexResult::timed_out:
                    break;
            }
        }
        return sleeps;
    }

    template <class HasWork>
    unsigned end_pass_by_condvar(HasWork has_work) {
        unsigned sleeps = 0;
        mutex_.lock();
        running_ = 0;
        if (!has_work()) {
            condition_.wait(mutex_);
            ++sleeps;
        }
        running_ = 1;
        if (form_->delays_under_mutex) M::sleep_for_ns(batch_delay_ns_);
        mutex_.unlock();
        if (!form_->delays_under_mutex) M::sleep_for_ns(batch_delay_ns_);
        return sleeps;
    }

    bool ring_by_condvar() {
        mutex_.lock();
        const bool sleeps = running_ == 0u;
        if (sleeps) condition_.signal();
        mutex_.unlock();
        return sleeps;
    }

    const WakeUpForm* form_;
    std::uint64_t batch_delay_ns_;
    typename M::template Atomic<std::uint32_t> word_{awake};
    FutexMutex<M> mutex_;
    Condition<M> condition_;
    typename M::template Cell<std::uint32_t> running_{1u};  ///< under mutex_
};

}  // namespace abortscope
