// SPDX-License-Identifier: Apache-2.0
//
// The first-come-first-served queue of a reader-writer semaphore, and how its waiters sleep.
//
// A worker waits for one semaphore at a time, so each semaphore has one waiter for each worker, in
// the machine's memory. All members but `wake` are under the semaphore's queue mutex.
//
//   who is woken | under the queue mutex          | after it           | what the woken one does
//   -------------+--------------------------------+--------------------+------------------------
//   reader       | removed, the count adjusted    | wake = 1, futex    | holds the lock, returns
//   writer       | stays, wake = 1                | futex              | tries for the lock again
//
// A writer's `wake` is set while it is known to be in the queue: set later, it could fall into the
// same waiter's next wait. A reader's is what ends its wait, so that it may be set late. The futex
// call may always come late: a sleeper tests its word again.
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"

namespace abortscope {

template <Machine M>
class RwsemWaiters {
  public:
    struct alignas(64) Waiter {
        typename M::template Cell<Waiter*> next{nullptr};
        typename M::template Cell<Waiter*> previous{nullptr};
        typename M::template Cell<std::uint64_t> deadline_ns{0};  ///< when it may demand hand-off
        typename M::template Cell<std::uint32_t> writes{0};
        typename M::template Atomic<std::uint32_t> wake{0};
    };

    /// Whom to wake once the queue mutex is free again.
    class Wakes {
      public:
        void add_reader(Waiter& waiter) {
            waiter.next = nullptr;
            if (last_reader_ == nullptr) {
                first_reader_ = &waiter;
            } else {
                last_reader_->next = &waiter;
            }
            last_reader_ = &waiter;
        }
        void add_writer(Waiter& waiter) {
            waiter.wake.store(1, std::memory_order_release);
            writer_ = &waiter;
        }
        void deliver() {
            while (first_reader_ != nullptr) {
                Waiter& waiter = *first_reader_;
                first_reader_ = waiter.next;  // it may wait anew as soon as it is woken
                waiter.wake.store(1, std::memory_order_release);
                M::futex_wake(waiter.wake, 1);
            }
            last_reader_ = nullptr;
            if (writer_ != nullptr) M::futex_wake(writer_->wake, 1);
            writer_ = nullptr;
        }

      private:
        Waiter* first_reader_ = nullptr;
        Waiter* last_reader_ = nullptr;
        Waiter* writer_ = nullptr;
    };

    /// For workers 0 .. workers-1.
    explicit RwsemWaiters(unsigned workers)
        : waiters_(make_owned_array<M, Waiter>("rwsem.waiters", workers)) {}

    /// Queues this worker last.
    Waiter& push_back(bool writes, std::uint64_t deadline_ns = 0) {
        Waiter& waiter = waiters_.get()[M::this_worker()];
        Waiter* last = last_;
        waiter.next = nullptr;
        waiter.previous = last;
        waiter.writes = writes ? 1 : 0;
        waiter.deadline_ns = deadline_ns;
        waiter.wake.store(0, std::memory_order_relaxed);
        if (last == nullptr) {
            first_ = &waiter;
        } else {
            last->next = &waiter;
        }
        last_ = &waiter;
        return waiter;
    }

    void remove(Waiter& waiter) {
        Waiter* next = waiter.next;
        Waiter* previous = waiter.previous;
        if (previous == nullptr) {
            first_ = next;
        } else {
            previous->next = next;
        }
        if (next == nullptr) {
            last_ = previous;
        } else {
            next->previous = previous;
        }
    }

    Waiter* first() const { return first_; }
    bool empty() const { return first() == nullptr; }
    bool is_single() const {
        Waiter* only = first_;
        return only != nullptr && only == static_cast<Waiter*>(last_);
    }

    /// Sleeps until `wake` is set. Not under the queue mutex.
    static void sleep(Waiter& waiter) {
        while (waiter.wake.load(std::memory_order_acquire) == 0) {
            M::futex_wait(waiter.wake, 0, forever_ns);
        }
    }

  private:
    typename M::template Cell<Waiter*> first_{nullptr};
    typename M::template Cell<Waiter*> last_{nullptr};
    Owned<M, Waiter> waiters_;
};

}  // namespace abortscope
