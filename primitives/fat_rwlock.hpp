// SPDX-License-Identifier: Apache-2.0
//
// Open vSwitch's fat reader-writer lock: a mutex for each worker, so that readers never meet.
//
//   operation        | takes                                        | contends with
//   -----------------+----------------------------------------------+--------------------------
//   lock_shared      | the worker's own slot mutex, once per depth  | a writer's sweep
//   lock             | the writer mutex, then every slot mutex      | writers, all readers
//   unlock           | gives the slots back in order, then the writer mutex
//
// Reading is recursive (depth counts), writing is not, and a writer may not read-lock.
//
// `Mutex` is FutexMutex<M>, or ElidedLock over it: then every mutex elides on its own, as in the
// 2016 patch, and an elided writer nests 1 + workers deep. Beyond the processor's nesting limit (7
// on Intel parts) it aborts each time (hazard H9).
//
// Layout: a slot's mutex and its depth lie on different lines, as they do in OVS (slots are
// line-aligned, the mutex ends and the depth starts behind byte 64). On one line, a reader's write
// of its depth would conflict with every sweep.
//
// Source: Open vSwitch lib/fat-rwlock.c; slots there are made on first use, here by the
// constructor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"

namespace abortscope {

template <Machine M, class Mutex>
class FatRwLock {
  public:
    /// For workers 0 .. workers-1; `arguments` construct each mutex (an elided one's policy).
    template <class... Arguments>
    explicit FatRwLock(unsigned workers, const Arguments&... arguments)
        : writer_mutex_(arguments...),
          slots_(make_slots(workers, arguments...)),
          workers_(workers) {}

    void lock_shared() {
        Slot& slot = own_slot();
        if (slot.depth == 0) slot.mutex.lock();
        slot.depth = slot.depth + 1;
    }

    bool try_lock_shared() {
        Slot& slot = own_slot();
        if (slot.depth == writing) return false;
        if (slot.depth == 0 && !slot.mutex.try_lock()) return false;
        slot.depth = slot.depth + 1;
        return true;
    }

    void unlock_shared() {
        Slot& slot = own_slot();
        // The write comes last, outside the transaction if the section was elided.
        if (slot.depth == 1) slot.mutex.unlock();
        slot.depth = slot.depth - 1;
    }

    void lock() {
        own_slot().depth = writing;
        writer_mutex_.lock();
        for (unsigned worker = 0; worker < workers_; ++worker) slot_of(worker).mutex.lock();
    }

    bool try_lock() {
        if (own_slot().depth != 0 || !writer_mutex_.try_lock()) return false;
        for (unsigned worker = 0; worker < workers_; ++worker) {
            if (slot_of(worker).mutex.try_lock()) continue;
            while (worker-- > 0) slot_of(worker).mutex.unlock();
            writer_mutex_.unlock();
            return false;
        }
        own_slot().depth = writing;
        return true;
    }

    void unlock() {
        for (unsigned worker = 0; worker < workers_; ++worker) slot_of(worker).mutex.unlock();
        writer_mutex_.unlock();
        own_slot().depth = 0;
    }

    /// Whether no worker reads or writes; exact only while nobody locks.
    bool is_free() const {
        if (!writer_mutex_.is_free()) return false;
        for (unsigned worker = 0; worker < workers_; ++worker) {
            if (!slot_of(worker).mutex.is_free()) return false;
        }
        return true;
    }

  private:
    static constexpr std::size_t line = 64;
    static constexpr std::uint32_t writing = ~std::uint32_t{0};

    struct alignas(line) Slot {
        template <class... Arguments>
        explicit Slot(const Arguments&... arguments) : mutex(arguments...) {}
        Mutex mutex;
        alignas(line) typename M::template Cell<std::uint32_t> depth{0};
    };

    template <class... Arguments>
    static Owned<M, Slot> make_slots(unsigned workers, const Arguments&... arguments) {
        void* place = M::allocate(workers * sizeof(Slot), alignof(Slot));
        M::describe(place, workers * sizeof(Slot), "fat-rwlock.slots");
        auto* slots = static_cast<Slot*>(place);
        for (unsigned worker = 0; worker < workers; ++worker) {
            ::new (static_cast<void*>(slots + worker)) Slot(arguments...);
        }
        return Owned<M, Slot>(slots, MachineDelete<M, Slot>{workers});
    }

    Slot& slot_of(unsigned worker) const { return slots_.get()[worker]; }
    Slot& own_slot() const { return slot_of(M::this_worker()); }

    Mutex writer_mutex_;
    Owned<M, Slot> slots_;
    unsigned workers_;
};

}  // namespace abortscope
