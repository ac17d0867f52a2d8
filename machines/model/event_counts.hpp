// SPDX-License-Identifier: Apache-2.0
//
// What the simulated machine counts. Exact, per CPU; a phase's counts are a difference of sums.
#pragma once

#include <cstdint>

namespace abortscope::model {

struct EventCounts {
    std::uint64_t accesses = 0;  ///< loads, stores and atomics of the workload
    std::uint64_t l1_misses = 0;
    std::uint64_t l2_misses = 0;
    std::uint64_t l3_misses = 0;
    std::uint64_t cache_transfers = 0;  ///< dirty lines from another core
    std::uint64_t upgrades = 0;

    std::uint64_t tx_start = 0;
    std::uint64_t tx_commit = 0;
    std::uint64_t tx_abort = 0;
    std::uint64_t tx_conflict = 0;  ///< aborts by a data conflict
    std::uint64_t tx_capacity_read = 0;
    std::uint64_t tx_capacity_write = 0;
    std::uint64_t abort_mem = 0;         ///< conflict or capacity
    std::uint64_t abort_timer = 0;       ///< none on the model: no TSX watchdog
    std::uint64_t abort_unfriendly = 0;  ///< an instruction that RTM does not support
    std::uint64_t abort_memtype = 0;     ///< none on the model: all memory is write-back
    std::uint64_t abort_events = 0;      ///< interrupts, faults, system calls
    std::uint64_t nest_overflow = 0;

    std::uint64_t cycles = 0;     ///< while a worker ran
    std::uint64_t cycles_t = 0;   ///< of which in transactions
    std::uint64_t cycles_ct = 0;  ///< of which in transactions that committed

    std::uint64_t context_switches = 0;
    std::uint64_t involuntary_switches = 0;
    std::uint64_t migrations = 0;
    std::uint64_t page_faults = 0;
    std::uint64_t interrupts = 0;
    std::uint64_t futex_waits = 0;  ///< that slept
    std::uint64_t futex_wakes = 0;  ///< tasks woken

    /// Applies f(member of a, member of b) to each pair.
    template <class F>
    static void zip(EventCounts& a, const EventCounts& b, F f) {
        auto* left = reinterpret_cast<std::uint64_t*>(&a);
        const auto* right = reinterpret_cast<const std::uint64_t*>(&b);
        for (std::size_t i = 0; i < sizeof(EventCounts) / sizeof(std::uint64_t); ++i) {
            f(left[i], right[i]);
        }
    }
    EventCounts& operator+=(const EventCounts& other) {
        zip(*this, other, [](std::uint64_t& a, std::uint64_t b) { a += b; });
        return *this;
    }
    EventCounts& operator-=(const EventCounts& other) {
        zip(*this, other, [](std::uint64_t& a, std::uint64_t b) { a -= b; });
        return *this;
    }
};

}  // namespace abortscope::model
