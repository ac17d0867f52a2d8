// SPDX-License-Identifier: Apache-2.0
//
// The queue spinlock as first posted in 2013: four bytes, an MCS queue beside a lock byte.
//
//   word: 31..16 code of the last in the queue (queue_nodes.hpp), 0: none | 7..0 locked
//
//   step       | what it does
//   -----------+---------------------------------------------------------------------------
//   try_lock   | only where nobody queues: exchange the lock byte, acquire
//   lock       | try_lock, up to spin_threshold times with pauses between; then the queue
//   queue      | claim a node, try once more, exchange the code, link behind the former last,
//              | pause until granted; the head pauses until the byte is free
//   head takes | last in the queue: CAS {own code, 0} -> {0, 1}; others behind: exchange the byte,
//              | then grant the next
//   no node    | pause on the byte alone and take it past the queue
//   unlock     | store 0 into the byte, release; the code is never touched
//   free       | the whole word is 0: a queue counts as held, for whoever subscribes to it
//
// Orderings: exchanging the code is acq_rel (the node is initialised before it can be linked to);
// link and grant are releases, matched by acquire loads; whoever takes the byte does so by acquire.
//
// Fairness: first come, first served among those in the queue. A newcomer can slip in between the
// two steps of try_lock; one without a node overtakes the queue without bound.
//
// Source: W. Long, "[PATCH RFC 0/3] qspinlock: Introducing a 4-byte queue spinlock", LKML
// 2013-07-31; `spin_threshold` 64 is R. K. T's variant in that thread. Every enqueue writes the
// word, which aborts whoever elides the lock.
#pragma once

#include <cstdint>

#include "primitives/lock_word.hpp"
#include "primitives/machine.hpp"
#include "primitives/queue_nodes.hpp"

namespace abortscope {

template <Machine M>
class QspinlockRfc {
  public:
    using Nodes = QueueNodes<M>;

    /// `nodes` outlives the lock; locks that a worker takes share them.
    explicit QspinlockRfc(Nodes& nodes, std::uint32_t spin_threshold = 0)
        : nodes_(&nodes), spin_threshold_(spin_threshold) {}

    void lock() {
        if (try_lock()) return;
        for (std::uint32_t tries = 0; tries < spin_threshold_; ++tries) {
            M::pause();
            if (try_lock()) return;
        }
        queue();
    }

    bool try_lock() {
        if (word_.bytes.high.load(std::memory_order_relaxed) != 0) return false;
        return take_byte();
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

    bool take_byte() {
        if (word_.bytes.first.load(std::memory_order_relaxed) != 0) return false;
        return word_.bytes.first.exchange(1, std::memory_order_acquire) == 0;
    }

    void queue() {
        typename Nodes::Claim claim(*nodes_);
        if (!claim.has_node()) {
            take_past_queue(claim.counters());
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
        if (take_as_head(code)) return;
        Node* next = M::spin_until(mine.next, [](Node* linked) { return linked != nullptr; });
        next->granted.store(1, std::memory_order_release);
    }

    /// True if the queue is empty now; false if somebody behind is to be granted the head.
    bool take_as_head(std::uint16_t code) {
        const std::uint32_t last = std::uint32_t{code} << 16;
        for (;;) {
            std::uint32_t seen = M::spin_until(
                word_.whole, [](std::uint32_t word) { return (word & locked_mask) == 0; });
            if (seen == last) {
                if (word_.whole.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                                        std::memory_order_relaxed)) {
                    return true;
                }
            } else if (word_.bytes.first.exchange(1, std::memory_order_acquire) == 0) {
                return false;
            }
        }
    }

    void take_past_queue(QueueLockCounters& counters) {
        ++counters.no_node;
        while (!take_byte()) {
            M::spin_until(word_.bytes.first, [](std::uint8_t byte) { return byte == 0; });
        }
        if (word_.bytes.high.load(std::memory_order_relaxed) != 0) ++counters.barges;
    }

    LockWord<M> word_;
    Nodes* nodes_;
    std::uint32_t spin_threshold_;
};

}  // namespace abortscope
