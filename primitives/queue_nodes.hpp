// SPDX-License-Identifier: Apache-2.0
//
// The waiting nodes of the queue spinlocks: four for each worker, shared by all of its locks.
//
// A worker waits for one lock in each of its contexts at a time (the kernel's are task, softirq,
// hardirq and NMI; in user space, a thread and the signal handlers that interrupt it). Contexts
// nest strictly, so that the nodes of a worker are a stack, and a counter is all its management. An
// owner needs no node: it gives the node back as soon as it has the lock.
//
//   code, 16 bits: 15..2 worker + 1 | 1..0 node;  0: nobody queues.  At most 16382 workers.
//
// Invariant: a node is reused only after its successor was notified or the queue's tail was
// cleared, so that no late link can land in a recycled node.
//
// Source: W. Long, "[PATCH RFC] qspinlock", LKML 2013-08, and kernel/locking/qspinlock.c.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"

namespace abortscope {

/// What one worker counted in the slow paths of its queue spinlocks: plain numbers on lines of
/// their own. A count may be lost where a signal handler interrupts the same count.
struct alignas(128) QueueLockCounters {
    static constexpr unsigned nodes_per_worker = 4;

    std::uint64_t pending = 0;  ///< got the lock as the one that spins on the word (4.2 form)
    std::array<std::uint64_t, nodes_per_worker> node_uses{};  ///< waits in the queue, by context
    std::uint64_t no_node = 0;                                ///< waits without a node
    std::uint64_t barges = 0;  ///< acquisitions without a node that overtook a queue

    std::uint64_t slow_paths() const {
        std::uint64_t sum = pending + no_node;
        for (std::uint64_t uses : node_uses) sum += uses;
        return sum;
    }
};

template <Machine M>
class QueueNodes {
  public:
    static constexpr unsigned nodes_per_worker = QueueLockCounters::nodes_per_worker;
    static constexpr unsigned most_workers = (1u << 14) - 2;

    struct alignas(64) Node {
        typename M::template Atomic<Node*> next{nullptr};
        typename M::template Atomic<std::uint32_t> granted{0};
    };

  private:
    struct Slot {
        QueueLockCounters counters;
        alignas(64) typename M::template Atomic<std::uint32_t> used{0};
        std::array<Node, nodes_per_worker> nodes;
    };

  public:
    /// `max_nodes` below four makes workers run out sooner (0: always).
    explicit QueueNodes(unsigned workers, unsigned max_nodes = nodes_per_worker)
        : slots_(make_owned_array<M, Slot>("queue-nodes", workers)),
          max_nodes_(std::min(max_nodes, nodes_per_worker)) {}

    /// One context's claim to a node, for the time that it waits.
    class Claim {
      public:
        explicit Claim(QueueNodes& pool) : slot_(pool.slots_.get()[M::this_worker()]) {
            index_ = slot_.used.load(std::memory_order_relaxed);
            slot_.used.store(index_ + 1, std::memory_order_relaxed);
            // A handler that interrupts this context from here on must find the node taken.
            std::atomic_signal_fence(std::memory_order_seq_cst);
            has_node_ = index_ < pool.max_nodes_;
        }
        ~Claim() {
            std::atomic_signal_fence(std::memory_order_seq_cst);
            slot_.used.store(index_, std::memory_order_relaxed);
        }
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;

        bool has_node() const { return has_node_; }
        Node& prepared_node() {
            Node& node = slot_.nodes[index_];
            node.next.store(nullptr, std::memory_order_relaxed);
            node.granted.store(0, std::memory_order_relaxed);
            return node;
        }
        std::uint16_t code() const {
            return static_cast<std::uint16_t>((M::this_worker() + 1) << 2 | index_);
        }
        void count_node_use() { ++slot_.counters.node_uses[index_]; }
        QueueLockCounters& counters() { return slot_.counters; }

      private:
        Slot& slot_;
        std::uint32_t index_;
        bool has_node_;
    };

    /// For tests: while it lives, this worker's context is one that has interrupted a waiting one.
    using NestedContext = Claim;

    Node& node_of(std::uint16_t code) { return slots_.get()[(code >> 2) - 1].nodes[code & 3u]; }

    /// Read it when the worker is done.
    const QueueLockCounters& counters(unsigned worker) const {
        return slots_.get()[worker].counters;
    }
    QueueLockCounters& own_counters() { return slots_.get()[M::this_worker()].counters; }

  private:
    Owned<M, Slot> slots_;
    unsigned max_nodes_;
};

}  // namespace abortscope
