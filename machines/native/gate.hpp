// SPDX-License-Identifier: Apache-2.0
//
// A barrier for the workers of a phase: spins briefly, then sleeps, and makes no system call when
// nobody sleeps.
//
// std::barrier would do the rendezvous, but its waiting policy is the library's: here the spin is
// long enough that workers with a CPU of their own start within a few hundred cycles of each
// other, and bounded, so that an over-committed host still makes progress.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "machines/native/native_machine.hpp"

namespace abortscope::native {

class Gate {
  public:
    /// Returns once `parties` threads have arrived. The last one runs `open` before it lets the
    /// others go. May be used again at once, by the same number of parties or another.
    template <class Open>
    void arrive_and_wait(std::uint32_t parties, Open open) {
        // Read before arriving: afterwards the last one may already have moved it on.
        const std::uint32_t before = generation_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties) {
            arrived_.store(0, std::memory_order_relaxed);
            open();
            generation_.fetch_add(1, std::memory_order_seq_cst);
            if (sleepers_.load(std::memory_order_seq_cst) != 0) {
                futex_wake(generation_, std::numeric_limits<std::int32_t>::max());
            }
            return;
        }
        const auto opened = [before](std::uint32_t now) { return now != before; };
        if (opened(NativeMachine::spin_until(generation_, opened, spin_pauses))) return;

        // Sequentially consistent with the opener's two accesses: either it sees this sleeper and
        // wakes it, or the kernel sees the new generation and does not put it to sleep.
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        while (generation_.load(std::memory_order_seq_cst) == before) {
            futex_wait(generation_, before);
        }
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }

  private:
    // About 10 us on Skylake and later (140 cycles a PAUSE) and 2 us elsewhere.
    static constexpr std::uint32_t spin_pauses = 256;

    std::atomic<std::uint32_t> generation_{0};
    std::atomic<std::uint32_t> arrived_{0};
    std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace abortscope::native
