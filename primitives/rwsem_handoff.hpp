// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer semaphore since Linux 5.2: flags in the count, and hand-off for the starved.
//
//   count_: 0 writer | 1 somebody queues | 2 hand-off | 8..62 readers, 256 each | 63 overflow guard
//
//   operation        | fast path                                 | slow path where
//   -----------------+-------------------------------------------+---------------------------------
//   lock_shared      | +256, acquire                             | any of bits 0, 1, 2, 63 is set
//   try_lock_shared  | CAS +256, acquire, while those are clear  | fails
//   lock             | CAS 0 -> writer, acquire                  | any other value: queue
//   try_lock         | the same                                  | fails
//   unlock_shared    | -256, release                             | left free, somebody queues: wake
//   unlock           | - writer, release                         | somebody queues: wake
//   downgrade        | - writer + 256, release                   | somebody queues: wake readers
//
// Stealing: a writer in the queue takes a free lock whatever its place, and a reader joins ahead of
// the queue unless readers hold the lock already. Who has waited first in the queue for 4 ms and
// fails once more sets hand-off: from then on nobody but the first gets in. Wake-ups grant at most
// 256 readers at a time, wherever in the queue they are ("phase-fair").
//
// No optimistic spinning: it asks whether the owner runs, which user space cannot know.
//
// Source: Linux kernel/locking/rwsem.c, 6.12 (count and hand-off of W. Long, 5.2, 2019).
#pragma once

#include <cstdint>

#include "primitives/futex_mutex.hpp"
#include "primitives/machine.hpp"
#include "primitives/rwsem_waiters.hpp"

namespace abortscope {

template <Machine M>
class alignas(64) RwsemHandoff {
  public:
    static constexpr std::uint64_t handoff_after_ns = 4'000'000;
    static constexpr unsigned most_readers_woken = 256;

    /// For workers 0 .. workers-1.
    explicit RwsemHandoff(unsigned workers) : waiters_(workers) {}

    void lock_shared() {
        const std::uint64_t count = count_.fetch_add(reader, std::memory_order_acquire) + reader;
        if ((count & bars_readers) != 0) lock_shared_slow(count);
        set_owner(read_owned);
    }

    bool try_lock_shared() {
        std::uint64_t seen = count_.load(std::memory_order_relaxed);
        while ((seen & bars_readers) == 0) {
            if (count_.compare_exchange_strong(seen, seen + reader, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
                set_owner(read_owned);
                return true;
            }
        }
        return false;
    }

    void unlock_shared() {
        const std::uint64_t left = count_.fetch_sub(reader, std::memory_order_release) - reader;
        if ((left & (lockers | queued)) == queued) wake(Whom::any);
    }

    void lock() {
        if (!take_free()) lock_slow();
        set_owner(write_owned);
    }

    bool try_lock() {
        if (!take_free()) return false;
        set_owner(write_owned);
        return true;
    }

    void unlock() {
        owner_.store(0, std::memory_order_relaxed);
        if ((count_.fetch_sub(writer, std::memory_order_release) & queued) != 0) wake(Whom::any);
    }

    /// The writer becomes a reader, without letting a writer in between.
    void downgrade() {
        set_owner(read_owned);
        const std::uint64_t before = count_.fetch_add(reader - writer, std::memory_order_release);
        if ((before & queued) != 0) wake(Whom::readers_of_read_lock);
    }

    bool is_free() const { return count_.load(std::memory_order_relaxed) == 0; }
    bool spin_until_free(std::uint32_t max_pauses) {
        return M::spin_until(
                   count_, [](std::uint64_t count) { return count == 0; }, max_pauses) == 0;
    }

  private:
    using Waiters = RwsemWaiters<M>;
    using Waiter = typename Waiters::Waiter;
    using Wakes = typename Waiters::Wakes;

    static constexpr std::uint64_t writer = 1;
    static constexpr std::uint64_t queued = 2;
    static constexpr std::uint64_t handoff = 4;
    static constexpr std::uint64_t reader = 256;
    static constexpr std::uint64_t overflow_guard = std::uint64_t{1} << 63;
    static constexpr std::uint64_t readers = ~std::uint64_t{255} & ~overflow_guard;
    static constexpr std::uint64_t lockers = writer | readers;
    static constexpr std::uint64_t bars_readers = writer | queued | handoff | overflow_guard;

    static constexpr std::uint64_t write_owned = 0;
    static constexpr std::uint64_t read_owned = 1;

    enum class Whom : std::uint8_t {
        any,                   ///< the lock may be free: readers, or the first writer
        readers,               ///< readers ahead of a writer that has just queued
        readers_of_read_lock,  ///< the caller holds the lock for reading
    };

    void set_owner(std::uint64_t kind) {
        owner_.store((std::uint64_t{M::this_worker()} + 1) << 1 | kind, std::memory_order_relaxed);
    }
    bool read_owned_last() const {
        return (owner_.load(std::memory_order_relaxed) & read_owned) != 0;
    }

    bool take_free() {
        std::uint64_t seen = 0;
        return count_.compare_exchange_strong(seen, writer, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    /// `count` includes this reader's 256.
    void lock_shared_slow(std::uint64_t count) {
        Wakes wakes;
        const std::uint64_t inside = (count & readers) / reader;
        // Stealing from a lock that is read by others already would starve a sleeping writer.
        const bool may_steal = !read_owned_last() || inside <= 1 || (count & writer) != 0;
        if (may_steal && (count & (writer | handoff)) == 0) {
            if (inside == 1 && (count & queued) != 0) wake(Whom::readers_of_read_lock);
            return;
        }
        std::uint64_t adjustment = std::uint64_t{0} - reader;
        queue_mutex_.lock();
        const bool first = waiters_.empty();
        if (first) {
            if ((count_.load(std::memory_order_acquire) & writer) == 0) {
                queue_mutex_.unlock();
                return;
            }
            adjustment += queued;
        }
        Waiter& mine = waiters_.push_back(false, M::now_ns() + handoff_after_ns);
        count = count_.fetch_add(adjustment, std::memory_order_relaxed) + adjustment;
        if ((count & lockers) == 0 || ((count & writer) == 0 && first)) choose(Whom::any, wakes);
        queue_mutex_.unlock();
        wakes.deliver();
        Waiters::sleep(mine);
    }

    void lock_slow() {
        Wakes wakes;
        queue_mutex_.lock();
        const bool others = !waiters_.empty();
        Waiter& mine = waiters_.push_back(true, M::now_ns() + handoff_after_ns);
        if (!others) {
            count_.fetch_or(queued, std::memory_order_relaxed);
        } else {
            const std::uint64_t count = count_.load(std::memory_order_relaxed);
            if ((count & writer) == 0) {
                choose((count & readers) != 0 ? Whom::readers : Whom::any, wakes);
            }
        }
        while (!take_from_queue(mine)) {
            mine.wake.store(0, std::memory_order_relaxed);
            queue_mutex_.unlock();
            wakes.deliver();
            Waiters::sleep(mine);
            queue_mutex_.lock();
        }
        waiters_.remove(mine);
        queue_mutex_.unlock();
        wakes.deliver();
    }

    /// Under the queue mutex, by a queued writer; may set hand-off instead.
    bool take_from_queue(Waiter& mine) {
        const bool first = waiters_.first() == &mine;
        std::uint64_t seen = count_.load(std::memory_order_relaxed);
        for (;;) {
            if ((seen & handoff) != 0 && !first) return false;
            std::uint64_t wanted = seen;
            if ((seen & lockers) != 0) {
                if ((seen & handoff) != 0 || !first || M::now_ns() < mine.deadline_ns) return false;
                wanted |= handoff;
            } else {
                wanted = (seen | writer) & ~handoff;
                if (waiters_.is_single()) wanted &= ~queued;
            }
            if (count_.compare_exchange_strong(seen, wanted, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
                return (wanted & handoff) == 0;
            }
        }
    }

    void wake(Whom whom) {
        Wakes wakes;
        queue_mutex_.lock();
        if (!waiters_.empty()) choose(whom, wakes);
        queue_mutex_.unlock();
        wakes.deliver();
    }

    /// Under the queue mutex, which holds somebody.
    void choose(Whom whom, Wakes& wakes) {
        Waiter* first = waiters_.first();
        if (first->writes != 0) {
            if (whom == Whom::any) wakes.add_writer(*first);
            return;
        }
        std::uint64_t reserved = 0;
        if (whom != Whom::readers_of_read_lock) {
            // By acquire: through this and `wake` the readers see what the last writer wrote.
            reserved = reader;
            const std::uint64_t before = count_.fetch_add(reserved, std::memory_order_acquire);
            if ((before & writer) != 0) {  // stolen; its unlock wakes them
                std::uint64_t adjustment = std::uint64_t{0} - reserved;
                if ((before & handoff) == 0 && M::now_ns() >= first->deadline_ns) {
                    adjustment += handoff;
                }
                count_.fetch_add(adjustment, std::memory_order_relaxed);
                return;
            }
        }
        std::uint64_t woken = 0;
        for (Waiter* waiter = first; waiter != nullptr && woken < most_readers_woken;) {
            Waiter* next = waiter->next;
            if (waiter->writes == 0) {
                waiters_.remove(*waiter);
                wakes.add_reader(*waiter);
                ++woken;
            }
            waiter = next;
        }
        std::uint64_t adjustment = woken * reader - reserved;
        if (waiters_.empty()) adjustment -= queued;
        // Hand-off is set and cleared under the queue mutex; the starved one has been served.
        if ((count_.load(std::memory_order_relaxed) & handoff) != 0) adjustment -= handoff;
        count_.fetch_add(adjustment, std::memory_order_relaxed);
    }

    typename M::template Atomic<std::uint64_t> count_{0};
    typename M::template Atomic<std::uint64_t> owner_{0};
    FutexMutex<M> queue_mutex_;
    Waiters waiters_;
};

}  // namespace abortscope
