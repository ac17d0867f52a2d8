// SPDX-License-Identifier: Apache-2.0
//
// A chained hash map with the memory layout of Open vSwitch's hmap. No locking of its own.
//
//   one 64-byte line                                       next line (padded_count)
//   | buckets | one | mask | n |  (address of the count) | | n |
//        |
//        +--> bucket array of mask + 1 heads --> node {hash, next} --> node --> null
//
// A look-up reads `buckets` and `mask`; an insertion or a removal writes `n`, on the same line.
// Under elision that makes every removal a conflict with every look-up in flight, whatever the
// keys: the reason for the second layout, which differs in nothing but the place of `n`.
//
// The map never owns its nodes; they are embedded in the caller's elements as a base class. It must
// itself live in the machine's memory (make_owned). Every method is for one caller at a time, or
// for any number of readers (`find`, `for_each`) while nobody changes the map.
//
// Source of layout and growth: openvswitch lib/hmap.h, lib/hmap.c (facts; written anew).
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "primitives/machine.hpp"
#include "scenarios/containers/count_placement.hpp"

namespace abortscope {

template <Machine M>
class Hmap {
    template <class T>
    using Cell = typename M::template Cell<T>;

  public:
    struct Node {
        Cell<std::size_t> hash{};
        Cell<Node*> next{};
    };

    explicit Hmap(CountPlacement placement)
        : n_(placement == CountPlacement::beside_mask ? &n_beside_mask_ : &n_on_own_line_) {
        buckets_ = &one_;
        M::describe(&buckets_, sizeof buckets_, "hmap.buckets");
        M::describe(&one_, sizeof one_, "hmap.one");
        M::describe(&mask_, sizeof mask_, "hmap.mask");
        M::describe(n_, sizeof *n_, "hmap.n");
    }
    Hmap(const Hmap&) = delete;
    Hmap& operator=(const Hmap&) = delete;

    /// The nodes are the caller's and are left alone.
    ~Hmap() { free_buckets(buckets_, mask_ + std::size_t{1}); }

    std::size_t count() const { return *n_; }

    /// Puts `node` at the head of its chain; a duplicate hash is allowed.
    void insert(Node& node, std::uint32_t hash) {
        node.hash = hash;
        link(node, buckets_, mask_);
        const std::size_t n = *n_ + std::size_t{1};
        *n_ = n;
        const std::size_t mask = mask_;
        if (n / 2 > mask) resize(grown_mask(n));
    }

    /// Takes `node` out of the map; false, and nothing changed, if it is not there.
    bool remove(Node& node) {
        Cell<Node*>* const buckets = buckets_;
        const std::size_t mask = mask_;
        Cell<Node*>* link = &buckets[node.hash & mask];
        for (;;) {
            Node* const at = *link;
            if (at == &node) break;
            if (at == nullptr) return false;
            link = &at->next;
        }
        Node* const next = node.next;
        *link = next;
        const std::size_t n = *n_;
        *n_ = n - 1;
        return true;
    }

    /// The first node with this hash for which `matches(node)` holds; null if there is none.
    template <class Matches>
    Node* find(std::uint32_t hash, Matches matches) const {
        Cell<Node*>* const buckets = buckets_;
        const std::size_t mask = mask_;
        for (Node* node = buckets[hash & mask]; node != nullptr; node = node->next) {
            if (node->hash == hash && matches(*node)) return node;
        }
        return nullptr;
    }

    /// Calls visit(node) for every node; `visit` may remove the node that it is given.
    template <class Visit>
    void for_each(Visit visit) const {
        Cell<Node*>* const buckets = buckets_;
        const std::size_t mask = mask_;
        for (std::size_t bucket = 0; bucket <= mask; ++bucket) {
            for (Node* node = buckets[bucket]; node != nullptr;) {
                Node* const next = node->next;
                visit(*node);
                node = next;
            }
        }
    }

  private:
    /// One less than a power of two, with one to two nodes a bucket when it comes to hold n.
    static std::size_t grown_mask(std::size_t n) {
        std::size_t mask = 1;
        while (mask < n / 2) mask = mask << 1 | 1;
        return mask;
    }

    static void link(Node& node, Cell<Node*>* buckets, std::size_t mask) {
        Cell<Node*>& head = buckets[node.hash & mask];
        Node* const first = head;
        node.next = first;
        head = &node;
    }

    void resize(std::size_t new_mask) {
        const std::size_t new_count = new_mask + 1;
        Cell<Node*>* const new_buckets = static_cast<Cell<Node*>*>(
            M::allocate(new_count * sizeof(Cell<Node*>), alignof(Cell<Node*>)));
        M::describe(new_buckets, new_count * sizeof(Cell<Node*>), "hmap bucket");
        for (std::size_t i = 0; i < new_count; ++i) ::new (&new_buckets[i]) Cell<Node*>();

        for_each([&](Node& node) { link(node, new_buckets, new_mask); });

        Cell<Node*>* const old_buckets = buckets_;
        const std::size_t old_count = mask_ + std::size_t{1};
        buckets_ = new_buckets;
        mask_ = new_mask;
        free_buckets(old_buckets, old_count);
    }

    void free_buckets(Cell<Node*>* buckets, std::size_t count) {
        if (buckets == &one_) return;
        M::deallocate(buckets, count * sizeof(Cell<Node*>), alignof(Cell<Node*>));
    }

    alignas(64) Cell<Cell<Node*>*> buckets_{};
    Cell<Node*> one_{};  ///< the bucket array while one bucket is enough
    Cell<std::size_t> mask_{};
    Cell<std::size_t> n_beside_mask_{};
    /// Which of the two counts is in use: chosen by the compiler in a program that has one layout,
    /// so it costs nothing here.
    Cell<std::size_t>* const n_;
    alignas(64) Cell<std::size_t> n_on_own_line_{};
};

}  // namespace abortscope
