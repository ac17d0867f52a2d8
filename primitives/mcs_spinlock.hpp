// SPDX-License-Identifier: Apache-2.0
//
// The MCS queue spinlock: first come, first served, each waiter on a line of its own.
//
//   tail_ | meaning                 | lock                              | unlock
//   ------+-------------------------+-----------------------------------+---------------------------
//   null  | free                    | exchange one's node: owner        | misuse
//   node  | held; node is the last  | exchange, link behind the former, | no successor: CAS to
//   null;
//         | in the queue            | pause on one's own node           | else hand over to it
//
// Orderings: the exchange is acq_rel, so that a node is initialised before it can be linked to;
// the link is a release that the former owner's unlock acquires; the hand-over is a release that
// the waiter's pause loop acquires.
//
// A lock has a node for each worker (in the machine's memory: others write into it), and the owner
// needs it until its unlock. A worker number is therefore required: see Machine::this_worker.
//
// Source: J. M. Mellor-Crummey and M. L. Scott, "Algorithms for Scalable Synchronization on
// Shared-Memory Multiprocessors", ACM TOCS 9(1), 1991, algorithm 5.
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"

namespace abortscope {

template <Machine M>
class McsSpinlock {
  public:
    /// For workers 0 .. workers-1.
    explicit McsSpinlock(unsigned workers)
        : nodes_(make_owned_array<M, Node>("mcs.nodes", workers)) {}

    void lock() {
        Node& mine = prepared_node();
        Node* before = tail_.exchange(&mine, std::memory_order_acq_rel);
        if (before == nullptr) return;
        before->next.store(&mine, std::memory_order_release);
        M::spin_until(mine.granted, [](std::uint32_t granted) { return granted != 0; });
    }

    bool try_lock() {
        if (!is_free()) return false;
        Node* none = nullptr;
        return tail_.compare_exchange_strong(none, &prepared_node(), std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }

    void unlock() {
        Node& mine = own_node();
        Node* next = mine.next.load(std::memory_order_acquire);
        if (next == nullptr) {
            Node* last = &mine;
            if (tail_.compare_exchange_strong(last, nullptr, std::memory_order_release,
                                              std::memory_order_relaxed)) {
                return;
            }
            // Somebody has exchanged the tail and is about to link itself.
            next = M::spin_until(mine.next, [](Node* linked) { return linked != nullptr; });
        }
        next->granted.store(1, std::memory_order_release);
    }

    bool is_free() const { return tail_.load(std::memory_order_relaxed) == nullptr; }
    bool spin_until_free(std::uint32_t max_pauses) {
        return M::spin_until(
                   tail_, [](Node* tail) { return tail == nullptr; }, max_pauses) == nullptr;
    }

  private:
    struct alignas(64) Node {
        typename M::template Atomic<Node*> next{nullptr};
        typename M::template Atomic<std::uint32_t> granted{0};
    };

    Node& own_node() { return nodes_.get()[M::this_worker()]; }
    Node& prepared_node() {
        Node& mine = own_node();
        mine.next.store(nullptr, std::memory_order_relaxed);
        mine.granted.store(0, std::memory_order_relaxed);
        return mine;
    }

    typename M::template Atomic<Node*> tail_{nullptr};
    Owned<M, Node> nodes_;
};

}  // namespace abortscope
