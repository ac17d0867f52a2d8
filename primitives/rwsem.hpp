// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer semaphore of Linux 5.0: one 64-bit count, a queue, sleeping waiters.
//
//   count_: low 32 bits: active lockers | each reader 1 | somebody queues: waiting = -2^32 |
//           a writer: waiting + 1
//   count_ >= 0 exactly where no writer is active and nobody queues; 0 is free
//
//   operation        | fast path                              | slow path where
//   -----------------+----------------------------------------+------------------------------------
//   lock_shared      | +1, acquire                            | the result is <= 0: queue
//   try_lock_shared  | CAS +1, acquire, while the count >= 0  | fails where it is negative: also if
//                    |                                        | writers merely queue
//   lock             | + writer, acquire                      | the result is not `writer`: take it
//                    |                                        | back, queue
//   try_lock         | CAS 0 -> writer, acquire               | fails
//   unlock_shared    | -1, release                            | nobody active, somebody queues:
//   wake unlock           | - writer, release                      | the result is < 0: wake
//   downgrade        | - waiting, release                     | the result is < 0: wake readers
//
// The queue is first come, first served: wake-ups grant the lock to all readers ahead of the first
// writer, or let the first writer try. A writer tries for the lock itself (CAS, only with nobody
// active), so that one that has just queued may take it from the woken one. The transient of a
// writer that adds and takes back can swallow a wake-up; that writer then tries itself.
//
// The two read trylocks differ in what they assume of the count:
//   read_first  loads it, then CASes from the value seen
//   cas_first   CASes from 0 at once: one load less on a free lock, a CAS sure to fail on a read
//   one
//
// No optimistic spinning: it asks whether the owner runs, which user space cannot know.
//
// Source: Linux kernel/locking/rwsem-xadd.c and rwsem.h, 5.0; W. Long, "locking/rwsem: Optimize
// down_read_trylock()", LKML 2019-02 (ddb20d1d3aed), undone by 14c240488411 in 2021.
#pragma once

#include <cstdint>
#include <utility>

#include "primitives/futex_mutex.hpp"
#include "primitives/machine.hpp"
#include "primitives/rwsem_waiters.hpp"

namespace abortscope {

enum class ReadTryLock : std::uint8_t { read_first, cas_first };

/// `QueueMutex` guards the queue of waiters. In the kernel that is a spinlock, also where what is
/// under test is the spinlocks; in user space, where its holder can be preempted, one that sleeps.
template <Machine M, ReadTryLock try_form, class QueueMutex = FutexMutex<M>>
class alignas(64) Rwsem {
  public:
    /// For workers 0 .. workers-1; what follows goes to the queue's mutex.
    template <class... Arguments>
    explicit Rwsem(unsigned workers, Arguments&&... arguments)
        : queue_mutex_(std::forward<Arguments>(arguments)...), waiters_(workers) {}

    void lock_shared() {
        if (count_.fetch_add(reader, std::memory_order_acquire) + reader <= 0) lock_shared_slow();
        set_owner(read_owned);
    }

    bool try_lock_shared() {
        std::int64_t seen = 0;
        if constexpr (try_form == ReadTryLock::read_first) {
            seen = count_.load(std::memory_order_relaxed);
        }
        while (seen >= 0) {
            if (count_.compare_exchange_strong(seen, seen + reader, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
                set_owner(read_owned);
                return true;
            }
        }
        return false;
    }

    void unlock_shared() {
        const std::int64_t left = count_.fetch_sub(reader, std::memory_order_release) - reader;
        if (left < -1 && (left & active_mask) == 0) wake(Whom::any);
    }

    void lock() {
        if (count_.fetch_add(writer, std::memory_order_acquire) + writer != writer) lock_slow();
        set_owner(write_owned);
    }

    bool try_lock() {
        std::int64_t seen = 0;
        if (!count_.compare_exchange_strong(seen, writer, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
            return false;
        }
        set_owner(write_owned);
        return true;
    }

    void unlock() {
        owner_.store(0, std::memory_order_relaxed);
        if (count_.fetch_sub(writer, std::memory_order_release) - writer < 0) wake(Whom::any);
    }

    /// The writer becomes a reader, without letting a writer in between.
    void downgrade() {
        set_owner(read_owned);
        if (count_.fetch_sub(waiting, std::memory_order_release) - waiting < 0) {
            wake(Whom::readers_of_read_lock);
        }
    }

    bool is_free() const { return count_.load(std::memory_order_relaxed) == 0; }
    bool spin_until_free(std::uint32_t max_pauses) {
        return M::spin_until(
                   count_, [](std::int64_t count) { return count == 0; }, max_pauses) == 0;
    }

  private:
    using Waiters = RwsemWaiters<M>;
    using Waiter = typename Waiters::Waiter;
    using Wakes = typename Waiters::Wakes;

    static constexpr std::int64_t reader = 1;
    static constexpr std::int64_t active_mask = 0xffffffff;
    static constexpr std::int64_t waiting = -(std::int64_t{1} << 32);
    static constexpr std::int64_t writer = waiting + 1;

    static constexpr std::uint64_t write_owned = 0;
    static constexpr std::uint64_t read_owned = 1;

    enum class Whom : std::uint8_t {
        any,                   ///< the lock may be free: readers, or the first writer
        readers,               ///< readers ahead of a writer that has just queued
        readers_of_read_lock,  ///< the caller holds the lock for reading
    };

    /// As in the original, every acquisition says who it was, on the count's line.
    void set_owner(std::uint64_t kind) {
        owner_.store((std::uint64_t{M::this_worker()} + 1) << 1 | kind, std::memory_order_relaxed);
    }

    void lock_shared_slow() {
        std::int64_t adjustment = -reader;
        Wakes wakes;
        queue_mutex_.lock();
        if (waiters_.empty()) {
            // A writer's transient sent us here, or one that has left: our +1 stands.
            if (count_.load(std::memory_order_acquire) >= 0) {
                queue_mutex_.unlock();
                return;
            }
            adjustment += waiting;
        }
        Waiter& mine = waiters_.push_back(false);
        const std::int64_t count =
            count_.fetch_add(adjustment, std::memory_order_relaxed) + adjustment;
        // Nobody active, or readers alone and we are first: nobody else will wake us.
        if (count == waiting || (count > waiting && adjustment != -reader)) {
            choose(Whom::any, wakes);
        }
        queue_mutex_.unlock();
        wakes.deliver();
        Waiters::sleep(mine);
    }

    void lock_slow() {
        count_.fetch_sub(writer, std::memory_order_relaxed);
        Wakes wakes;
        queue_mutex_.lock();
        const bool others = !waiters_.empty();
        Waiter& mine = waiters_.push_back(true);
        if (!others) {
            count_.fetch_add(waiting, std::memory_order_relaxed);
        } else if (count_.load(std::memory_order_relaxed) > waiting) {
            choose(Whom::readers, wakes);
        }
        while (!take_from_queue()) {
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

    /// Under the queue mutex, by a queued writer.
    bool take_from_queue() {
        std::int64_t seen = count_.load(std::memory_order_relaxed);
        if (seen != waiting) return false;
        const std::int64_t taken = waiters_.is_single() ? writer : writer + waiting;
        return count_.compare_exchange_strong(seen, taken, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    void wake(Whom whom) {
        Wakes wakes;
        queue_mutex_.lock();
        if (!waiters_.empty()) choose(whom, wakes);
        queue_mutex_.unlock();
        wakes.deliver();
    }

    /// Under the queue mutex, which holds somebody: grants the lock to the readers in front.
    void choose(Whom whom, Wakes& wakes) {
        Waiter* first = waiters_.first();
        if (first->writes != 0) {
            if (whom == Whom::any) wakes.add_writer(*first);
            return;
        }
        std::int64_t reserved = 0;
        if (whom != Whom::readers_of_read_lock) {
            // Become a reader on their behalf, unless a writer has taken the lock meanwhile. By
            // acquire: through this and `wake` the readers see what the last writer wrote.
            reserved = reader;
            while (count_.fetch_add(reserved, std::memory_order_acquire) < waiting) {
                if (count_.fetch_sub(reserved, std::memory_order_relaxed) - reserved < waiting) {
                    return;  // its unlock wakes them
                }
            }
        }
        std::int64_t granted = 0;
        while (first != nullptr && first->writes == 0) {
            waiters_.remove(*first);
            wakes.add_reader(*first);
            granted += reader;
            first = waiters_.first();
        }
        std::int64_t adjustment = granted - reserved;
        if (waiters_.empty()) adjustment -= waiting;
        if (adjustment != 0) count_.fetch_add(adjustment, std::memory_order_relaxed);
    }

    typename M::template Atomic<std::int64_t> count_{0};
    typename M::template Atomic<std::uint64_t> owner_{0};
    QueueMutex queue_mutex_;
    Waiters waiters_;
};

}  // namespace abortscope
