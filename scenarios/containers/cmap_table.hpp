// SPDX-License-Identifier: Apache-2.0
//
// One table of a Cmap: a header of two lines and 2^k buckets of one 64-byte line each.
//
//   header  | n max_n min_n mask basis | | n |      n is written by every removal, mask and basis
//                                                   are read by every look-up: the same line, or
//                                                   n is on the next one (padded_count)
//   bucket  | version | hash x 5 | node x 5 |       4 + 20 + 40 bytes
//
// Readers are optimistic, the writer is one at a time:
//
//   writer  version + 1 (relaxed); release fence; node (release), hash (relaxed);
//           version + 2 (release)
//   reader  version until even (acquire); hashes (relaxed), node (acquire); acquire fence;
//           the same version (relaxed), or again from the start
//
//   version even   the bucket is at rest
//   version odd    a slot is being changed; readers wait
//
// The writer's release fence keeps the slot's stores behind the odd version: without it a reader
// may see a new hash with an old node under an unchanged version (Open vSwitch lacked it until
// 2019, commit 31db0e043). A node pointer that changes alone (a removal, a duplicate) needs no
// version: the slot means the same before and after.
//
// Sources: openvswitch lib/cmap.c (facts; written anew); optimistic buckets: Fan, Andersen and
// Kaminsky, MemC3, NSDI 2013; the orders: Boehm, Can seqlocks get along with programming language
// memory models?, MSPC 2012.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "primitives/machine.hpp"
#include "scenarios/containers/count_placement.hpp"
#include "scenarios/containers/hash.hpp"

namespace abortscope {

template <Machine M>
struct CmapNode {
    typename M::template Atomic<CmapNode*> next{nullptr};  ///< the next one with the same hash
};

inline constexpr unsigned cmap_slots = 5;

template <Machine M>
struct alignas(64) CmapBucket {
    template <class T>
    using Atomic = typename M::template Atomic<T>;
    using Node = CmapNode<M>;

    Atomic<std::uint32_t> version{0};
    std::array<Atomic<std::uint32_t>, cmap_slots> hashes{};
    std::array<Atomic<Node*>, cmap_slots> nodes{};

    /// What a reader saw of the bucket, at one moment.
    struct Snapshot {
        Node* node;  ///< null if no slot has the hash
        std::uint32_t version;
    };

    Snapshot find(std::uint32_t hash) const {
        for (;;) {
            const std::uint32_t seen =
                M::spin_until(version, [](std::uint32_t value) { return value % 2 == 0; });
            Node* const node = find_stable(hash);
            if (!changed_since(seen)) return {node, seen};
        }
    }

    bool changed_since(std::uint32_t seen) const {
        M::fence(std::memory_order_acquire);
        return version.load(std::memory_order_relaxed) != seen;
    }

    /// For the writer, or under a version that is checked afterwards.
    Node* find_stable(std::uint32_t hash) const {
        for (unsigned slot = 0; slot < cmap_slots; ++slot) {
            if (hashes[slot].load(std::memory_order_relaxed) != hash) continue;
            // A removal leaves the hash behind and clears the node.
            Node* const node = nodes[slot].load(std::memory_order_acquire);
            if (node != nullptr) return node;
        }
        return nullptr;
    }

    // The writer's side: nobody else changes the bucket, so relaxed loads are exact.
    std::uint32_t hash_at(unsigned slot) const {
        return hashes[slot].load(std::memory_order_relaxed);
    }
    Node* node_at(unsigned slot) const { return nodes[slot].load(std::memory_order_relaxed); }

    /// The slot in use with this hash, or `cmap_slots`.
    unsigned slot_of(std::uint32_t hash) const {
        unsigned slot = 0;
        while (slot < cmap_slots && !(hash_at(slot) == hash && node_at(slot) != nullptr)) ++slot;
        return slot;
    }

    /// A slot that is not in use, or `cmap_slots`.
    unsigned free_slot() const {
        unsigned slot = 0;
        while (slot < cmap_slots && node_at(slot) != nullptr) ++slot;
        return slot;
    }

    void set(unsigned slot, Node* node, std::uint32_t hash) {
        const std::uint32_t seen = version.load(std::memory_order_relaxed);
        version.store(seen + 1, std::memory_order_relaxed);
        M::fence(std::memory_order_release);
        nodes[slot].store(node, std::memory_order_release);
        hashes[slot].store(hash, std::memory_order_relaxed);
        version.store(seen + 2, std::memory_order_release);
    }
};

template <Machine M>
struct alignas(64) CmapTable {
    template <class T>
    using Cell = typename M::template Cell<T>;
    using Bucket = CmapBucket<M>;

    Cell<std::uint32_t> n_beside_mask{};
    Cell<std::uint32_t> max_n{};  ///< beyond it the map doubles
    Cell<std::uint32_t> min_n{};  ///< below it the map halves
    Cell<std::uint32_t> mask{};
    Cell<std::uint32_t> basis{};
    Cell<CmapTable*> previous{};  ///< the table that this one replaced; readers may still be in it
    /// Which of the two counts is in use: the compiler knows in a program that has one layout.
    Cell<std::uint32_t>* const n;
    alignas(64) Cell<std::uint32_t> n_on_own_line{};

    explicit CmapTable(CountPlacement placement)
        : n(placement == CountPlacement::beside_mask ? &n_beside_mask : &n_on_own_line) {}

    std::uint32_t count() const { return *n; }
    void set_count(std::uint32_t count) { *n = count; }

    // Fill limits (openvswitch lib/cmap.c); Erlingsson, Manasse and McSherry (WDAS 2006) put the
    // highest reachable load for 5 slots and 2 hashes at about 93 %.
    static constexpr std::uint64_t max_load_pct = 85;
    static constexpr std::uint64_t min_load_pct = 20;

    static std::size_t bytes(std::uint32_t mask) {
        return sizeof(CmapTable) + (std::size_t{mask} + 1) * sizeof(Bucket);
    }

    static CmapTable* create(std::uint32_t mask, std::uint32_t basis, CountPlacement placement) {
        static_assert(sizeof(Bucket) == 64 && sizeof(CmapTable) == 128);
        auto* const table =
            ::new (M::allocate(bytes(mask), alignof(CmapTable))) CmapTable(placement);
        const std::uint64_t slots = (std::uint64_t{mask} + 1) * cmap_slots;
        table->max_n = static_cast<std::uint32_t>(slots * max_load_pct / 100);
        table->min_n = mask == 0 ? 0 : static_cast<std::uint32_t>(slots * min_load_pct / 100);
        table->mask = mask;
        table->basis = basis;
        for (std::size_t i = 0; i <= mask; ++i) ::new (table->buckets() + i) Bucket();
        M::describe(table->n, sizeof *table->n, "cmap.n");
        M::describe(&table->max_n, sizeof table->max_n, "cmap.max_n");
        M::describe(&table->min_n, sizeof table->min_n, "cmap.min_n");
        M::describe(&table->mask, sizeof table->mask, "cmap.mask");
        M::describe(&table->basis, sizeof table->basis, "cmap.basis");
        M::describe(table->buckets(), (std::size_t{mask} + 1) * sizeof(Bucket), "cmap bucket");
        return table;
    }

    static void destroy(CmapTable* table) {
        const std::uint32_t mask = table->mask;
        M::deallocate(table, bytes(mask), alignof(CmapTable));
    }

    Bucket* buckets() { return reinterpret_cast<Bucket*>(this + 1); }

    /// Where a hash may be: in one of two buckets, which may be the same one.
    struct Place {
        Bucket* first;
        Bucket* second;
    };

    Place place_of(std::uint32_t hash) {
        const std::uint32_t rehashed = hash_int<M>(hash, basis);
        const std::uint32_t bucket_mask = mask;
        return {buckets() + (rehashed & bucket_mask), buckets() + (turned(rehashed) & bucket_mask)};
    }

    /// The other hash of a pair; its own inverse. The two are independent while the mask has at
    /// most 16 bits, and 32 - k bits of them beyond.
    static constexpr std::uint32_t turned(std::uint32_t rehashed) {
        return rehashed << 16 | rehashed >> 16;
    }
};

}  // namespace abortscope
