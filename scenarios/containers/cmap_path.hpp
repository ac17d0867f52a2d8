// SPDX-License-Identifier: Apache-2.0
//
// How a full pair of buckets of a Cmap gets a free slot: the shortest path of displacements.
//
//   first or second bucket --slot--> its other bucket --slot--> ... --slot--> one with a free slot
//
// Breadth-first, so a path never visits a bucket twice: had it, the earlier visit would have found
// the same free slot sooner. Nodes are then moved backward along the path, from its end to its
// start, so that each is in two buckets for a moment and never in none.
//
// Source: Li, Andersen, Kaminsky and Freedman, EuroSys 2014.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "primitives/machine.hpp"
#include "scenarios/containers/cmap_table.hpp"

namespace abortscope {

template <Machine M>
class CmapPath {
    using Table = CmapTable<M>;
    using Bucket = CmapBucket<M>;

  public:
    explicit CmapPath(Table& table) : table_(table) {}

    /// Looks for a path from either bucket of `place`; changes nothing. False if there is none
    /// within `max_visits` buckets: the table should then be hashed anew.
    bool search(const typename Table::Place& place) {
        visit(place.first, no_parent, 0);
        if (place.second != place.first) visit(place.second, no_parent, 0);
        for (std::uint16_t at = 0; at < visits_count_; ++at) {
            for (std::uint8_t slot = 0; slot < cmap_slots; ++slot) {
                Bucket* const from = visits_[at].bucket;
                Bucket* const next = other_bucket(from, slot);
                if (next == from) continue;
                const unsigned free_slot = next->free_slot();
                if (free_slot != cmap_slots) {
                    end_ = {next, at, slot};
                    end_slot_ = free_slot;
                    return true;
                }
                if (visits_count_ < max_visits) visit(next, at, slot);
            }
        }
        return false;
    }

    /// Moves every node of the path one step on. Afterwards the slot `start_slot()` of `start()` is
    /// the caller's to overwrite: what it holds is in the next bucket, too.
    void shift() {
        Visit to = end_;
        unsigned to_slot = end_slot_;
        while (to.parent != no_parent) {
            const Visit from = visits_[to.parent];
            auto* const node = from.bucket->node_at(to.slot);
            const std::uint32_t hash = from.bucket->hash_at(to.slot);
            to.bucket->set(to_slot, node, hash);
            to_slot = to.slot;
            to = from;
        }
        start_ = to.bucket;
        start_slot_ = to_slot;
    }

    Bucket* start() const { return start_; }
    unsigned start_slot() const { return start_slot_; }

  private:
    static constexpr std::uint16_t no_parent = 0xffff;
    // Beyond a few hundred buckets a new basis is cheaper than a longer search (openvswitch
    // lib/cmap.c, which stops at 500).
    static constexpr std::uint16_t max_visits = 500;

    struct Visit {
        Bucket* bucket;
        std::uint16_t parent;  ///< the visit that led here
        std::uint8_t slot;     ///< by this slot of the parent's bucket
    };

    void visit(Bucket* bucket, std::uint16_t parent, std::uint8_t slot) {
        visits_[visits_count_++] = {bucket, parent, slot};
    }

    /// The other bucket that the node in this slot may be in.
    Bucket* other_bucket(Bucket* bucket, unsigned slot) const {
        const auto place = table_.place_of(bucket->hash_at(slot));
        return place.first == bucket ? place.second : place.first;
    }

    Table& table_;
    Visit end_{};
    unsigned end_slot_ = 0;
    Bucket* start_ = nullptr;
    unsigned start_slot_ = 0;
    std::uint16_t visits_count_ = 0;
    std::array<Visit, max_visits> visits_;
};

}  // namespace abortscope
