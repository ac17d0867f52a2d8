// SPDX-License-Identifier: Apache-2.0
//
// The queue spinlock as merged in Linux 4.2: the second contender spins on the word itself.
//
//   word: 31..16 code of the last in the queue (queue_nodes.hpp), 0: none | 15..8 pending |
//         7..0 locked
//
//   word seen              | lock
//   -----------------------+--------------------------------------------------------------------
//   0                      | CAS 0 -> locked, acquire
//   pending alone          | a hand-over is under way: pause, at most pending_pauses times
//   locked alone           | set pending, acquire; pause until not locked; locked, not pending
//   pending or a queue     | claim a node, try once more, exchange the code, link, pause until
//                          | granted; the head pauses until neither locked nor pending
//   no node                | try_lock until it succeeds: past the queue only when the word is 0
//
// unlock stores 0 into the lock byte, release. try_lock is the CAS from 0: unlike in the 2013 form
// nobody overtakes, but for the one that sets pending before the first enqueues.
//
// Whoever set pending by fetch_or and finds a queue, or another's pending, takes its own back.
// Pending and locked are rewritten in one 16-bit store: their owner alone writes them then.
//
// Source: Linux kernel/locking/qspinlock.c, 4.2 (2015); the bound (_Q_PENDING_LOOPS, 512 on x86)
// from 4.18, the way without a node from 5.1.
#pragma once

#include <cstdint>

#include "primitives/lock_word.hpp"
#include "primitives/machine.hpp"
#include "primitives/queue_nodes.hpp"

namespace abortscope {

template <Machine M>
class Qspinlock {
  public:
    using Nodes = QueueNodes<M>;
    static constexpr std::uint32_t default_pending_pauses = 512;

    /// `nodes` outlives the lock; locks that a worker takes share them.
    explicit Qspinlock(Nodes& nodes, std::uint32_t pending_pauses = default_pending_pauses)
        : nodes_(&nodes), pending_pauses_(pending_pauses) {}

    void lock() {
        std::uint32_t seen = 0;
        if (word_.whole.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                                std::memory_order_relaxed)) {
            return;
        }
        if (seen == pending) {
            seen = M::spin_until(
                word_.whole, [](std::uint32_t word) { return word != pending; }, pending_pauses_);
        }
        if ((seen & ~locked_mask) != 0 || !wait_as_pending()) queue();
    }

    bool try_lock() {
        if (!is_free()) return false;
        std::uint32_t seen = 0;
        return word_.whole.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                                   std::memory_order_relaxed);
    }

    void unlock() { word_.bytes.first.store(0, std::memory_order_release); }

    bool is_free() const { return word_.whole.load(std::memory_order_relaxed) == 0; }
    bool spin_until_free(std::uint32_t max_pauses) {
        return M::spin_until(
                   word_.whole, [](std::uint32_t word) { return word == 0; }, max_pauses) == 0;
    }

  private:
    using Node = typename Nodes::Node;
    static constexpr std::uint32_t locked = 1;
    static constexpr std::uint32_t locked_mask = 0xff;
    static constexpr std::uint32_t pending = 1u << 8;
    static constexpr std::uint32_t pending_mask = 0xff00;

    /// False: there is a queue, or another is pending already.
    bool wait_as_pending() {
        const std::uint32_t before = word_.whole.fetch_or(pending, std::memory_order_acquire);
        if ((before & ~locked_mask) != 0) {
            if ((before & pending_mask) == 0) {
                word_.bytes.second.store(0, std::memory_order_relaxed);
            }
            return false;
        }
        if (before != 0) {
            M::spin_until(word_.whole,
                          [](std::uint32_t word) { return (word & locked_mask) == 0; });
        }
        word_.halves.low.store(locked, std::memory_order_relaxed);
        ++nodes_->own_counters().pending;
        return true;
    }

    void queue() {
        typename Nodes::Claim claim(*nodes_);
        if (!claim.has_node()) {
            ++claim.counters().no_node;
            while (!try_lock()) M::pause();
            return;
        }
        claim.count_node_use();
        Node& mine = claim.prepared_node();
        if (try_lock()) return;

        const std::uint16_t code = claim.code();
        const std::uint16_t before = word_.bytes.high.exchange(code, std::memory_order_acq_rel);
        if (before != 0) {
            nodes_->node_of(before).next.store(&mine, std::memory_order_release);
            M::spin_until(mine.granted, [](std::uint32_t granted) { return granted != 0; });
        }
        std::uint32_t seen = M::spin_until(word_.whole, [](std::uint32_t word) {
            return (word & (locked_mask | pending_mask)) == 0;
        });
        // From here on the head alone may take the lock; others can still change the code.
        if (seen == std::uint32_t{code} << 16 &&
            word_.whole.compare_exchange_strong(seen, locked, std::memory_order_relaxed,
                                                std::memory_order_relaxed)) {
            return;
        }
        word_.bytes.first.store(locked, std::memory_order_relaxed);
        Node* next = M::spin_until(mine.next, [](Node* linked) { return linked != nullptr; });
        next->granted.store(1, std::memory_order_release);
    }

    LockWord<M> word_;
    Nodes* nodes_;
    std::uint32_t pending_pauses_;
};

}  // namespace abortscope
