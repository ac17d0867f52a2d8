// SPDX-License-Identifier: Apache-2.0
//
// The ticket spinlock: first come, first served, all waiters on one word.
//
//   word      | high half: the next ticket to give | low half: the ticket that is served
//   lock      | fetch_add one ticket, acquire; pause until the low half is one's own
//   unlock    | store the low half + 1, release: the owner alone writes it
//   try_lock  | CAS of the whole word, only where both halves are equal
//   free      | both halves are equal (the word itself does not return to 0)
//
// At most 65535 waiters. Every unlock invalidates the line in all waiters' caches, and a preempted
// waiter stalls everyone behind it.
//
// Source: Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, 2.1 (there with two words); x86 Linux
// 2.6.25 to 4.1 used the one-word form, the base line of the 2013 queue spinlock thread.
#pragma once

#include <cstdint>

#include "primitives/lock_word.hpp"
#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M>
class TicketSpinlock {
  public:
    void lock() {
        const std::uint32_t before = word_.whole.fetch_add(one_ticket, std::memory_order_acquire);
        const std::uint16_t mine = next_of(before);
        if (served_of(before) == mine) return;
        M::spin_until(word_.halves.low, [mine](std::uint16_t served) { return served == mine; });
    }
    bool try_lock() {
        std::uint32_t seen = word_.whole.load(std::memory_order_relaxed);
        return free(seen) &&
               word_.whole.compare_exchange_strong(
                   seen, seen + one_ticket, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void unlock() {
        const std::uint16_t served = word_.halves.low.load(std::memory_order_relaxed);
        word_.halves.low.store(static_cast<std::uint16_t>(served + 1), std::memory_order_release);
    }

    bool is_free() const { return free(word_.whole.load(std::memory_order_relaxed)); }
    bool spin_until_free(std::uint32_t max_pauses) {
        return free(M::spin_until(word_.whole, &TicketSpinlock::free, max_pauses));
    }

  private:
    static constexpr std::uint32_t one_ticket = 1u << 16;
    static constexpr std::uint16_t next_of(std::uint32_t word) {
        return static_cast<std::uint16_t>(word >> 16);
    }
    static constexpr std::uint16_t served_of(std::uint32_t word) {
        return static_cast<std::uint16_t>(word);
    }
    static constexpr bool free(std::uint32_t word) { return next_of(word) == served_of(word); }

    LockWord<M> word_;
};

}  // namespace abortscope
