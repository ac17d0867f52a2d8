// SPDX-License-Identifier: Apache-2.0
//
// A concurrent cuckoo hash map with the memory layout of Open vSwitch's cmap: any number of readers
// without a lock (`find`, `find_batch`, `for_each`), one writer at a time (`insert`, `remove`),
// which the caller serialises. Buckets, versions and memory orders are cmap_table.hpp's.
//
// A hash can be in either of two buckets. An insertion that finds both full moves others along the
// shortest path to a free slot, last one first, so that each is always visible in at least one
// place; a reader that finds nothing looks at the first bucket's version again, because its node
// may have moved there from the second. A map more than 85 % full doubles, below 20 % it halves, by
// a new table that is published whole.
//
// Nodes are embedded in the caller's elements as a base class. A removed node may still be seen by
// readers: it must not be reused, nor freed, until they have left. Replaced tables are kept for the
// same reason; `reclaim` frees them. (The original defers both to an RCU grace period.)
//
// The map must itself live in the machine's memory (make_owned).
//
// Sources: openvswitch lib/cmap.c (facts; written anew). Cuckoo hashing: Pagh and Rodler, J.
// Algorithms 51(2), 2004. Breadth-first search for a free slot: Li, Andersen, Kaminsky and
// Freedman, Algorithmic improvements for fast concurrent cuckoo hashing, EuroSys 2014.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "primitives/machine.hpp"
#include "scenarios/containers/cmap_path.hpp"
#include "scenarios/containers/cmap_table.hpp"

namespace abortscope {

template <Machine M>
class Cmap {
    using Table = CmapTable<M>;
    using Bucket = CmapBucket<M>;

  public:
    using Node = CmapNode<M>;

    /// The most look-ups in one batch: as many as a 64-bit map of results holds.
    static constexpr std::size_t max_batch = 64;

    /// `seed` starts the sequence of bases that tables are hashed with.
    explicit Cmap(std::uint64_t seed, CountPlacement placement = CountPlacement::beside_mask)
        : placement_(placement) {
        basis_state_ = seed;
        M::describe(&table_, sizeof table_, "cmap.impl");
        table_.store(new_table(0), std::memory_order_release);
    }
    Cmap(const Cmap&) = delete;
    Cmap& operator=(const Cmap&) = delete;
    ~Cmap() {
        reclaim();
        Table::destroy(table_.load(std::memory_order_relaxed));
    }

    /// Exact while nobody changes the map.
    std::size_t count() const { return table_.load(std::memory_order_acquire)->count(); }

    // ---- readers

    /// The first node of the chain with this hash (walk it by `next`); null if there is none.
    Node* find(std::uint32_t hash) const {
        const auto place = table_.load(std::memory_order_acquire)->place_of(hash);
        return find_in(place, hash);
    }

    /// Looks `hashes` (at most max_batch) up in two rounds: every first bucket, then the second
    /// buckets of those not found, each prefetched a round ahead. Bit i of the result says whether
    /// hashes[i] was found; nodes[i] is then its chain, and is left alone otherwise.
    std::uint64_t find_batch(std::span<const std::uint32_t> hashes, std::span<Node*> nodes) const {
        Table* const table = table_.load(std::memory_order_acquire);
        std::array<typename Table::Place, max_batch> places;
        std::array<std::uint32_t, max_batch> versions;

        for (std::size_t i = 0; i < hashes.size(); ++i) {
            places[i] = table->place_of(hashes[i]);
            prefetch(places[i].first);
        }
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const auto seen = places[i].first->find(hashes[i]);
            versions[i] = seen.version;
            if (seen.node == nullptr) {
                prefetch(places[i].second);
                continue;
            }
            prefetch(seen.node);
            nodes[i] = seen.node;
            found |= std::uint64_t{1} << i;
        }
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            if ((found >> i & 1u) != 0) continue;
            Node* node = places[i].second->find(hashes[i]).node;
            if (node == nullptr && places[i].first->changed_since(versions[i])) {
                node = find_in(places[i], hashes[i]);
            }
            if (node == nullptr) continue;
            prefetch(node);
            nodes[i] = node;
            found |= std::uint64_t{1} << i;
        }
        return found;
    }

    /// Calls visit(node) for every node of the table that is current now. With a writer beside it,
    /// a node may be missed or come twice; `visit` itself may remove the node that it is given.
    template <class Visit>
    void for_each(Visit visit) const {
        Table* const table = table_.load(std::memory_order_acquire);
        const std::uint32_t mask = table->mask;
        for (std::size_t i = 0; i <= mask; ++i) {
            const Bucket& bucket = table->buckets()[i];
            for (unsigned slot = 0; slot < cmap_slots; ++slot) {
                Node* node = bucket.nodes[slot].load(std::memory_order_acquire);
                while (node != nullptr) {
                    Node* const next = node->next.load(std::memory_order_acquire);
                    visit(*node);
                    node = next;
                }
            }
        }
    }

    // ---- the writer

    /// A duplicate hash is allowed: the newest node comes first in its chain.
    void insert(Node& node, std::uint32_t hash) {
        node.next.store(nullptr, std::memory_order_relaxed);
        Table* table = table_.load(std::memory_order_relaxed);
        const std::uint32_t n = table->count();
        if (n >= table->max_n) table = rehash(table->mask << 1 | std::uint32_t{1});
        while (!try_insert(*table, node, hash)) table = rehash(table->mask);
        table->set_count(n + 1);
    }

    /// Takes `node` out of the map; false, and nothing changed, if it is not there under this hash.
    bool remove(Node& node, std::uint32_t hash) {
        Table* const table = table_.load(std::memory_order_relaxed);
        const auto place = table->place_of(hash);
        if (!unlink(*place.first, node, hash) && !unlink(*place.second, node, hash)) return false;
        const std::uint32_t n = table->count() - 1;
        table->set_count(n);
        if (n < table->min_n) rehash(table->mask >> 1);
        return true;
    }

    /// Frees the tables that have been replaced. The caller vouches that no reader is inside.
    void reclaim() {
        Table* const table = table_.load(std::memory_order_relaxed);
        Table* old = table->previous;
        table->previous = nullptr;
        while (old != nullptr) {
            Table* const next = old->previous;
            Table::destroy(old);
            old = next;
        }
    }

  private:
    static Node* find_in(const typename Table::Place& place, std::uint32_t hash) {
        for (;;) {
            const auto seen = place.first->find(hash);
            if (seen.node != nullptr) return seen.node;
            Node* const node = place.second->find(hash).node;
            if (node != nullptr || !place.first->changed_since(seen.version)) return node;
        }
    }

    /// A hint, where the machine has one.
    static void prefetch(const void* address) {
        if constexpr (requires { M::prefetch(address); }) M::prefetch(address);
    }

    static bool unlink(Bucket& bucket, Node& node, std::uint32_t hash) {
        const unsigned slot = bucket.slot_of(hash);
        if (slot == cmap_slots) return false;
        Node* const next = node.next.load(std::memory_order_relaxed);
        auto* link = &bucket.nodes[slot];
        for (;;) {
            Node* const at = link->load(std::memory_order_relaxed);
            if (at == &node) break;
            if (at == nullptr) return false;
            link = &at->next;
        }
        link->store(next, std::memory_order_release);
        return true;
    }

    /// Puts a node, or in a rehash a whole chain, where its hash belongs.
    static bool try_insert(Table& table, Node& node, std::uint32_t hash) {
        const auto place = table.place_of(hash);
        for (Bucket* bucket : {place.first, place.second}) {
            const unsigned slot = bucket->slot_of(hash);
            if (slot == cmap_slots) continue;
            Node* const chain = bucket->node_at(slot);
            node.next.store(chain, std::memory_order_relaxed);
            bucket->nodes[slot].store(&node, std::memory_order_release);
            return true;
        }
        for (Bucket* bucket : {place.first, place.second}) {
            const unsigned slot = bucket->free_slot();
            if (slot == cmap_slots) continue;
            bucket->set(slot, &node, hash);
            return true;
        }
        CmapPath<M> path(table);
        if (!path.search(place)) return false;
        path.shift();
        path.start()->set(path.start_slot(), &node, hash);
        return true;
    }

    static bool refill(Table& from, Table& to) {
        const std::uint32_t mask = from.mask;
        for (std::size_t i = 0; i <= mask; ++i) {
            const Bucket& bucket = from.buckets()[i];
            for (unsigned slot = 0; slot < cmap_slots; ++slot) {
                Node* const node = bucket.node_at(slot);
                if (node != nullptr && !try_insert(to, *node, bucket.hash_at(slot))) return false;
            }
        }
        return true;
    }

    Table* new_table(std::uint32_t mask) { return Table::create(mask, next_basis(), placement_); }

    Table* rehash(std::uint32_t mask) {
        Table* const old = table_.load(std::memory_order_relaxed);
        Table* table = new_table(mask);
        while (!refill(*old, *table)) {
            Table::destroy(table);
            table = new_table(mask);
        }
        table->set_count(old->count());
        table->previous = old;
        table_.store(table, std::memory_order_release);
        return table;
    }

    /// Weyl sequence through the mixer: each table hashes differently, the same on every host.
    std::uint32_t next_basis() {
        const std::uint64_t state = basis_state_ + std::uint64_t{0x9e3779b97f4a7c15};
        basis_state_ = state;
        return mix32(static_cast<std::uint32_t>(state >> 32));
    }

    alignas(64) typename M::template Atomic<Table*> table_{nullptr};
    alignas(64) typename M::template Cell<std::uint64_t> basis_state_{};
    const CountPlacement placement_;
};

}  // namespace abortscope
