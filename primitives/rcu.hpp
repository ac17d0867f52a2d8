// SPDX-License-Identifier: Apache-2.0
//
// Read-copy-update, memory-barrier flavour: read sections that wait for nobody, and grace periods
// that wait for all of them.
//
//     RcuDomain<M> rcu(workers);
//     rcu.read_lock();   p = pointer.load(acquire); use(*p);   rcu.read_unlock();
//     ...unlink p...;    rcu.synchronize();                     free(p);
//
//   reader's word | meaning
//   --------------+---------------------------------------------------------------
//   0             | in no read section
//   n             | in one that began in or before period n
//
// synchronize starts period n + 1 and waits until every word is 0 or above n. With a 64-bit count
// there is no overflow, hence one pass: a reader that took an old n before the scan and stores it
// after is behind the scan's fence, and sees what was unlinked.
//
// Orderings: read_lock stores its word and then fences (seq_cst): the word is seen by the scan, or
// the reader sees the unlinking. The stores to the word are releases and the scan acquires, so that
// a section's reads come before what follows the grace period.
//
// Waiting: the scan pauses 100 times for each reader, then sleeps on a futex by the protocol of
// wake_up_event.hpp; read_unlock rings only where the word says so. Read sections nest; synchronize
// inside one would wait for itself.
//
// Source: P. E. McKenney, "Is Parallel Programming Hard…", appendix B.7 (free-running counter);
// liburcu urcu.c for the flavour and RCU_QS_ACTIVE_ATTEMPTS.
#pragma once

#include <cstdint>

#include "primitives/futex_mutex.hpp"
#include "primitives/machine.hpp"
#include "primitives/owned.hpp"

namespace abortscope {

template <Machine M>
class RcuDomain {
  public:
    /// For workers 0 .. workers-1.
    explicit RcuDomain(unsigned workers)
        : readers_(make_owned_array<M, Reader>("rcu.readers", workers)), workers_(workers) {}

    void read_lock() {
        Reader& reader = own_reader();
        const std::uint32_t depth = reader.depth;
        if (depth == 0) {
            reader.period.store(period_.load(std::memory_order_relaxed), std::memory_order_release);
            M::fence(std::memory_order_seq_cst);
        }
        reader.depth = depth + 1;
    }

    void read_unlock() {
        Reader& reader = own_reader();
        const std::uint32_t depth = reader.depth;
        reader.depth = depth - 1;
        if (depth > 1) return;
        reader.period.store(0, std::memory_order_release);
        M::fence(std::memory_order_seq_cst);
        if (sleeper_.load(std::memory_order_relaxed) != asleep) return;
        sleeper_.store(awake, std::memory_order_relaxed);
        M::futex_wake(sleeper_, 1);
    }

    /// Returns when every read section that began before the call has ended.
    void synchronize() {
        mutex_.lock();
        M::fence(std::memory_order_seq_cst);
        const std::uint64_t period = period_.load(std::memory_order_relaxed) + 1;
        period_.store(period, std::memory_order_relaxed);
        M::fence(std::memory_order_seq_cst);
        for (unsigned worker = 0; worker < workers_; ++worker) {
            wait_for(readers_.get()[worker], period);
        }
        M::fence(std::memory_order_seq_cst);
        mutex_.unlock();
    }

  private:
    static constexpr std::uint32_t awake = 0;
    static constexpr std::uint32_t asleep = ~std::uint32_t{0};
    static constexpr std::uint32_t pauses_before_sleep = 100;

    struct alignas(64) Reader {
        typename M::template Atomic<std::uint64_t> period{0};
        typename M::template Cell<std::uint32_t> depth{0u};  ///< its own worker's alone
    };

    Reader& own_reader() { return readers_.get()[M::this_worker()]; }

    static bool is_past(std::uint64_t seen, std::uint64_t period) {
        return seen == 0 || seen >= period;
    }

    void wait_for(Reader& reader, std::uint64_t period) {
        const auto past = [period](std::uint64_t seen) { return is_past(seen, period); };
        while (!past(M::spin_until(reader.period, past, pauses_before_sleep))) {
            sleeper_.store(asleep, std::memory_order_relaxed);
            M::fence(std::memory_order_seq_cst);
            if (past(reader.period.load(std::memory_order_acquire))) {
                sleeper_.store(awake, std::memory_order_relaxed);
                return;
            }
            // Any reader's end wakes us; returns early for whatever reason are looked at again.
            M::futex_wait(sleeper_, asleep, forever_ns);
        }
        sleeper_.store(awake, std::memory_order_relaxed);
    }

    alignas(64) typename M::template Atomic<std::uint64_t> period_{1};
    typename M::template Atomic<std::uint32_t> sleeper_{awake};
    alignas(64) FutexMutex<M> mutex_;
    Owned<M, Reader> readers_;
    unsigned workers_;
};

}  // namespace abortscope
