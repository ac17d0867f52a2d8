// SPDX-License-Identifier: Apache-2.0
//
// A queue that any worker appends to without waiting, and one worker takes whole.
//
//   push    exchange the tail, acq_rel; link the former tail to the node, release
//   take    one worker: unlink the first from the dummy, exchange the tail with the dummy: all that
//           lies between is its own
//
// Between its two steps a push leaves a gap: who walks the nodes waits there for the link. The
// exchange decides whether the queue is empty, and is what a producer's fence orders.
//
// Source: liburcu wfcqueue (M. Desnoyers, P. McKenney).
#pragma once

#include "primitives/machine.hpp"

namespace abortscope {

/// What is queued: the base of the object that waits for a grace period.
template <Machine M>
struct RcuHead {
    using Callback = void (*)(RcuHead*);
    typename M::template Atomic<RcuHead*> next{nullptr};
    typename M::template Cell<Callback> callback{nullptr};
};

template <Machine M>
class WaitFreeQueue {
  public:
    using Node = RcuHead<M>;

    class Batch {
      public:
        Batch(Node* first, Node* last) : first_(first), last_(last) {}
        bool empty() const { return first_ == nullptr; }
        /// Calls visit(node) for each, in the order of their pushes; it may free the node.
        template <class Visit>
        void for_each(Visit visit) const {
            for (Node* node = first_; node != nullptr;) {
                Node* next = node == last_ ? nullptr : linked(node->next);
                visit(node);
                node = next;
            }
        }

      private:
        Node* first_;
        Node* last_;
    };

    void push(Node& node) {
        node.next.store(nullptr, std::memory_order_relaxed);
        Node* before = tail_.exchange(&node, std::memory_order_acq_rel);
        before->next.store(&node, std::memory_order_release);
    }

    bool empty() const { return tail_.load(std::memory_order_acquire) == &dummy_; }

    /// By one worker at a time.
    Batch take_all() {
        if (empty()) return {nullptr, nullptr};
        Node* first = linked(dummy_.next);
        dummy_.next.store(nullptr, std::memory_order_relaxed);
        Node* last = tail_.exchange(&dummy_, std::memory_order_acq_rel);
        return {first, last};
    }

  private:
    static Node* linked(const typename M::template Atomic<Node*>& next) {
        return M::spin_until(next, [](Node* node) { return node != nullptr; });
    }

    Node dummy_;
    alignas(64) typename M::template Atomic<Node*> tail_{&dummy_};
};

}  // namespace abortscope
