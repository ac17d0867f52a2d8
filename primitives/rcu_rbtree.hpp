// SPDX-License-Identifier: Apache-2.0
//
// A red-black tree that readers search inside RCU read sections, without locks, while one writer
// changes it. Equal keys are allowed.
//
//   change               | what readers can see
//   ---------------------+---------------------------------------------------------------------
//   insert               | one store links the new leaf
//   recolour             | nothing: readers ignore colours and parent links
//   rotate               | the node that moves down is copied; first the copy is linked below the
//                        | one that moves up, then that one takes the place. The old node still
//                        | leads to both
//   remove, <= one child | one store puts the child in its place
//   remove, two children | a copy of the successor takes the place, and a copy of the path down to
//                        | it, in one store: a reader on its way to the successor meets the old
//                        | path or the new one, never neither
//
// Every replaced node goes to call_rcu: a rotation frees one node, a removal two and the path. A
// key that is in the tree throughout a search is found by it; one that is inserted or removed
// meanwhile may be found or not. Links are stored by release and loaded by acquire.
//
// Source: P. W. Howard and J. Walpole, "Relativistic red-black trees", CCPE 2013 (rotation by
// copy); M. Desnoyers' rbtree branch of liburcu (the copied path instead of a grace period inside
// remove).
#pragma once

#include <cstdint>
#include <new>
#include <optional>

#include "primitives/call_rcu.hpp"
#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M, class Domain = RcuDomain<M>>
class RcuRbTree {
  public:
    using Key = std::uint64_t;
    using Value = std::uint64_t;

    /// `reclaim` outlives the tree.
    explicit RcuRbTree(CallRcu<M, Domain>& reclaim) : reclaim_(&reclaim) {}
    /// Nobody uses it any more: frees all nodes at once.
    ~RcuRbTree() { free_subtree(root_.load(std::memory_order_relaxed)); }
    RcuRbTree(const RcuRbTree&) = delete;
    RcuRbTree& operator=(const RcuRbTree&) = delete;

    /// In a read section, or by the writer.
    std::optional<Value> find(Key key) const {
        for (Node* node = root_.load(std::memory_order_acquire); node != nullptr;) {
            const Key here = node->key;
            if (key == here) return static_cast<Value>(node->value);
            node = node->child[key < here ? left : right].load(std::memory_order_acquire);
        }
        return std::nullopt;
    }

    /// By one writer at a time, outside read sections' waiting: it never waits.
    void insert(Key key, Value value) {
        Node* parent = nullptr;
        unsigned side = left;
        for (Node* node = load(root_); node != nullptr; node = load(parent->child[side])) {
            parent = node;
            side = key < static_cast<Key>(node->key) ? left : right;
        }
        Node* node = new_node(key, value, true);
        node->parent = parent;
        (parent == nullptr ? root_ : parent->child[side]).store(node, std::memory_order_release);
        mend_after_insert(node);
    }

    /// Removes one element of that key; false if there is none. By one writer at a time.
    bool remove(Key key) {
        Node* node = load(root_);
        while (node != nullptr) {
            const Key here = node->key;
            if (key == here) break;
            node = load(node->child[key < here ? left : right]);
        }
        if (node == nullptr) return false;
        unlink(node);
        return true;
    }

    /// The number of elements, if order, colours, black heights and parent links all hold.
    std::optional<std::size_t> checked_size() const {
        const Node* root = root_.load(std::memory_order_relaxed);
        if (root != nullptr && (is_red(root) || root->parent != nullptr)) return std::nullopt;
        std::size_t size = 0;
        if (!black_height(root, 0, ~Key{0}, size)) return std::nullopt;
        return size;
    }

  private:
    static constexpr unsigned left = 0;
    static constexpr unsigned right = 1;

    struct Node;
    using Link = typename M::template Atomic<Node*>;
    struct Node : RcuHead<M> {
        Node(Key k, Value v, bool is_red) : key(k), value(v), red(is_red ? 1u : 0u) {}
        typename M::template Cell<Key> key;
        typename M::template Cell<Value> value;
        Link child[2];
        typename M::template Cell<Node*> parent{nullptr};  ///< the writer's alone
        typename M::template Cell<std::uint32_t> red;      ///< the writer's alone
    };

    static Node* load(const Link& link) { return link.load(std::memory_order_relaxed); }
    static bool is_red(const Node* node) {
        return node != nullptr && static_cast<std::uint32_t>(node->red) != 0;
    }
    static void paint(Node* node, bool red) { node->red = red ? 1u : 0u; }

    static Node* new_node(Key key, Value value, bool red) {
        return ::new (M::allocate(sizeof(Node), alignof(Node))) Node(key, value, red);
    }
    static Node* copy_of(const Node* node, bool red) {
        const Key key = node->key;  // one after the other: compilers order arguments differently
        const Value value = node->value;
        return new_node(key, value, red);
    }
    static void free_node(RcuHead<M>* head) {
        Node* node = static_cast<Node*>(head);
        node->~Node();
        M::deallocate(node, sizeof(Node), alignof(Node));
    }
    static void free_subtree(Node* node) {
        if (node == nullptr) return;
        free_subtree(load(node->child[left]));
        free_subtree(load(node->child[right]));
        free_node(node);
    }
    void retire(Node* node) { reclaim_->call(*node, &free_node); }

    /// Before publication: sets the link and the child's way back.
    static void adopt(Node* parent, unsigned side, Node* child) {
        parent->child[side].store(child, std::memory_order_relaxed);
        if (child != nullptr) child->parent = parent;
    }
    /// Publication: `next` takes the place of `old` below old's parent.
    void replace(Node* old, Node* next) {
        Node* parent = old->parent;
        if (next != nullptr) next->parent = parent;
        Link& link = parent == nullptr ? root_ : parent->child[side_of(parent, old)];
        link.store(next, std::memory_order_release);
    }
    static unsigned side_of(const Node* parent, const Node* child) {
        return load(parent->child[left]) == child ? left : right;
    }

    /// `down` moves to its `side`, its other child moves up. Returns the copy of `down`.
    Node* rotate(Node* down, unsigned side) {
        const unsigned other = 1 - side;
        Node* up = load(down->child[other]);
        Node* copy = copy_of(down, is_red(down));
        adopt(copy, side, load(down->child[side]));
        adopt(copy, other, load(up->child[side]));
        copy->parent = up;
        up->child[side].store(copy, std::memory_order_release);
        replace(down, up);
        retire(down);
        return copy;
    }

    void mend_after_insert(Node* node) {
        for (Node* parent = node->parent; is_red(parent); parent = node->parent) {
            Node* grandparent = parent->parent;
            const unsigned side = side_of(grandparent, parent);
            Node* uncle = load(grandparent->child[1 - side]);
            if (is_red(uncle)) {
                paint(parent, false);
                paint(uncle, false);
                paint(grandparent, true);
                node = grandparent;
                continue;
            }
            if (side_of(parent, node) != side) {
                rotate(parent, side);
                parent = node;
            }
            paint(parent, false);
            paint(grandparent, true);
            rotate(grandparent, 1 - side);
            break;
        }
        paint(load(root_), false);
    }

    void unlink(Node* node) {
        Node* lower = load(node->child[left]);
        Node* upper = load(node->child[right]);
        Node* child = nullptr;   // takes the place of the node that disappears from the structure
        Node* parent = nullptr;  // above that place
        bool lost_black = false;
        if (lower != nullptr && upper != nullptr) {
            lost_black = replace_by_successor(node, lower, upper, child, parent);
        } else {
            child = lower != nullptr ? lower : upper;
            parent = node->parent;
            lost_black = !is_red(node);
            replace(node, child);
        }
        retire(node);
        if (lost_black) mend_after_remove(child, parent);
    }

    /// Returns whether the successor's old place was black.
    bool replace_by_successor(Node* node, Node* lower, Node* upper, Node*& child, Node*& parent) {
        Node* successor = upper;
        for (Node* next = load(upper->child[left]); next != nullptr;
             next = load(successor->child[left])) {
            successor = next;
        }
        Node* stand_in = copy_of(successor, is_red(node));
        child = load(successor->child[right]);
        parent = stand_in;
        unsigned side = right;
        for (Node* step = upper; step != successor; step = load(step->child[left])) {
            Node* copy = copy_of(step, is_red(step));
            adopt(copy, right, load(step->child[right]));
            adopt(parent, side, copy);
            parent = copy;
            side = left;
        }
        adopt(parent, side, child);
        adopt(stand_in, left, lower);
        replace(node, stand_in);
        const bool lost_black = !is_red(successor);
        for (Node* step = upper; step != successor;) {
            Node* next = load(step->child[left]);
            retire(step);
            step = next;
        }
        retire(successor);
        return lost_black;
    }

    /// The subtree at `node`, which may be empty, is one black short.
    void mend_after_remove(Node* node, Node* parent) {
        while (parent != nullptr && !is_red(node)) {
            const unsigned side = side_of(parent, node);
            const unsigned other = 1 - side;
            Node* sibling = load(parent->child[other]);
            if (is_red(sibling)) {
                paint(sibling, false);
                paint(parent, true);
                parent = rotate(parent, side);
                sibling = load(parent->child[other]);
            }
            Node* near = load(sibling->child[side]);
            Node* far = load(sibling->child[other]);
            if (!is_red(near) && !is_red(far)) {
                paint(sibling, true);
                node = parent;
                parent = node->parent;
                continue;
            }
            if (!is_red(far)) {
                paint(near, false);
                paint(sibling, true);
                far = rotate(sibling, other);
                sibling = near;
            }
            paint(sibling, is_red(parent));
            paint(parent, false);
            paint(far, false);
            rotate(parent, side);
            return;
        }
        if (node != nullptr) paint(node, false);
    }

    /// The number of black nodes on every way down plus one; nothing where a rule is broken.
    static std::optional<unsigned> black_height(const Node* node, Key low, Key high,
                                                std::size_t& size) {
        if (node == nullptr) return 1;
        ++size;
        const Key key = node->key;
        if (key < low || key > high) return std::nullopt;
        for (const Link& link : node->child) {
            const Node* child = load(link);
            if (child == nullptr) continue;
            if (static_cast<Node*>(child->parent) != node) return std::nullopt;
            if (is_red(node) && is_red(child)) return std::nullopt;
        }
        const auto below = black_height(load(node->child[left]), low, key, size);
        const auto above = black_height(load(node->child[right]), key, high, size);
        if (!below || !above || *below != *above) return std::nullopt;
        return *below + (is_red(node) ? 0 : 1);
    }

    CallRcu<M, Domain>* reclaim_;
    Link root_{nullptr};
};

}  // namespace abortscope
