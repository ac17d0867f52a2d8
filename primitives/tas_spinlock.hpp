// SPDX-License-Identifier: Apache-2.0
//
// The test-and-set spinlock: one word, no order among waiters.
//
//   word | meaning | lock                                   | unlock
//   -----+---------+----------------------------------------+---------------------
//     0  | free    | exchange 1, acquire                    | misuse
//     1  | held    | pause until it reads 0, exchange again | store 0, release
//
// Waiters read (their line stays shared) and only exchange what they have seen free: "test and
// test-and-set". Unfair without bound, and therefore the best spinlock under preemption: whoever
// runs takes it.
//
// Source: T. E. Anderson, "The Performance of Spin Lock Alternatives", IEEE TPDS 1990.
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M>
class TasSpinlock {
  public:
    void lock() {
        while (word_.exchange(1, std::memory_order_acquire) != 0) spin_until_free(unbounded);
    }
    bool try_lock() { return is_free() && word_.exchange(1, std::memory_order_acquire) == 0; }
    void unlock() { word_.store(0, std::memory_order_release); }

    bool is_free() const { return word_.load(std::memory_order_relaxed) == 0; }
    bool spin_until_free(std::uint32_t max_pauses) {
        return M::spin_until(
                   word_, [](std::uint32_t word) { return word == 0; }, max_pauses) == 0;
    }

  private:
    typename M::template Atomic<std::uint32_t> word_{0};
};

}  // namespace abortscope
