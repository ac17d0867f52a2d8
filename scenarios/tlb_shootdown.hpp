// SPDX-License-Identifier: Apache-2.0
//
// TLB shootdown among workers: who unmaps memory waits until every other worker that runs has
// dropped its translations.
//
//   worker | does
//   -------+--------------------------------------------------------------------------
//   runs   | polls now and then (its interrupts are on), and answers what was asked
//   blocks | goes offline before it may sleep: an idle CPU has nothing to drop
//   unmaps | asks all who are online and spins until each has answered or gone offline
//
// A worker that is runnable but not running answers only when it is put back on a CPU. That makes
// one preempted worker stop all: with more workers than CPUs the wait grows from microseconds to
// time slices, the more so as it is made with the address space's lock held.
//
//   state word  31..1 number of the last request answered | 0 online
//
// One asks at a time (the address space's write lock is held), so that request numbers only grow.
// Source: Linux arch/x86/mm/tlb.c, flush_tlb_others and lazy TLB mode (facts).
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"
#include "scenarios/work.hpp"

namespace abortscope {

template <Machine M>
class TlbShootdown {
  public:
    TlbShootdown(unsigned workers, std::uint64_t interrupt_cycles)
        : workers_(workers),
          interrupt_cycles_(interrupt_cycles),
          slots_(make_owned_array<M, Slot>("tlb", workers)) {}

    void go_online() {
        Slot& own = own_slot();
        const std::uint32_t request = own.request.load(std::memory_order_acquire);
        own.state.store(request << 1 | 1, std::memory_order_seq_cst);
    }
    void go_offline() {
        Slot& own = own_slot();
        const std::uint32_t state = own.state.load(std::memory_order_relaxed);
        own.state.store(state & ~std::uint32_t{1}, std::memory_order_release);
    }

    /// Where an interrupt would be taken. The worker is online.
    void poll() {
        Slot& own = own_slot();
        const std::uint32_t request = own.request.load(std::memory_order_acquire);
        const std::uint32_t answered = request << 1 | 1;
        if (own.state.load(std::memory_order_relaxed) == answered) return;
        work<M>(interrupt_cycles_);
        own.state.store(answered, std::memory_order_release);
    }

    /// The caller is the only one that asks.
    void ask_others() {
        for (unsigned worker = 0; worker < workers_; ++worker) {
            if (worker != M::this_worker()) ask(slots_.get()[worker]);
        }
        for (unsigned worker = 0; worker < workers_; ++worker) {
            if (worker != M::this_worker()) await(slots_.get()[worker]);
        }
    }

  private:
    struct alignas(128) Slot {
        typename M::template Atomic<std::uint32_t> request{0};
        alignas(64) typename M::template Atomic<std::uint32_t> state{0};
    };

    Slot& own_slot() { return slots_.get()[M::this_worker()]; }

    static bool is_online(std::uint32_t state) { return (state & 1) != 0; }

    static void ask(Slot& slot) {
        if (!is_online(slot.state.load(std::memory_order_seq_cst))) return;
        slot.request.fetch_add(1, std::memory_order_acq_rel);
    }

    static void await(Slot& slot) {
        const std::uint32_t answered = slot.request.load(std::memory_order_relaxed) << 1 | 1;
        M::spin_until(slot.state, [answered](std::uint32_t state) {
            return state == answered || !is_online(state);
        });
    }

    const unsigned workers_;
    const std::uint64_t interrupt_cycles_;
    Owned<M, Slot> slots_;
};

}  // namespace abortscope
