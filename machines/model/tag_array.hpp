// SPDX-License-Identifier: Apache-2.0
//
// The tags of a set-associative cache with pseudo-LRU replacement.
//
// Where the ways are a power of two: tree-PLRU, one bit per inner node of a binary tree over the
// ways; an access turns the bits on its path away from itself, a victim is found by following
// them. A line that is used again and again keeps the root pointing at the other half, so new
// lines share half the ways: that is why transactions overflow well before the cache is full.
//
// Otherwise (12 ways and the like; what such caches really do is not published): groups of four
// ways, least recently used group first, tree-PLRU within a group.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "machines/model/directory.hpp"

namespace abortscope::model {

inline constexpr LineId no_line = std::numeric_limits<LineId>::max();

/// What a walk over a tree of so many leaves needs; node 1 is the root, node i has 2i and 2i + 1.
struct PlruTree {
    static constexpr unsigned max_leaves = 32;
    struct Turn {
        std::uint32_t clear;  ///< the bits on the leaf's path
        std::uint32_t away;   ///< and how they must be set to point away from it
    };
    std::array<Turn, max_leaves> turn{};
    std::array<std::uint32_t, max_leaves * 2> below{};  ///< the leaves under a node

    constexpr explicit PlruTree(unsigned leaves) {
        for (unsigned leaf = 0; leaf < leaves; ++leaf) {
            for (unsigned node = leaves + leaf; node > 1; node /= 2) {
                const std::uint32_t bit = std::uint32_t{1} << (node / 2);
                turn[leaf].clear |= bit;
                if (node % 2 == 0) turn[leaf].away |= bit;
                below[node] |= std::uint32_t{1} << leaf;
            }
        }
    }
    std::uint32_t touched(std::uint32_t tree, std::uint32_t leaf) const {
        return (tree & ~turn[leaf].clear) | turn[leaf].away;
    }
    /// That of 2^i leaves is the i-th.
    static const std::array<PlruTree, 6> of_power;
};

inline constexpr std::array<PlruTree, 6> PlruTree::of_power{
    PlruTree(1), PlruTree(2), PlruTree(4), PlruTree(8), PlruTree(16), PlruTree(32)};

/// How many sets a cache has: a power of two, or any number (an L3 of as many slices as there are
/// cores).
enum class SetCount : std::uint8_t { power_of_two, any };

template <SetCount count>
class TagArrayOf {
  public:
    static constexpr unsigned max_ways = PlruTree::max_leaves;
    static constexpr std::uint32_t miss = ~std::uint32_t{0};

    TagArrayOf(std::uint32_t sets, std::uint32_t ways)
        : mask_(sets - 1),
          ways_(ways),
          groups_(std::has_single_bit(ways) ? 1 : (ways + group_ways - 1) / group_ways),
          leaves_(groups_ == 1 ? std::bit_ceil(ways) : group_ways),
          tree_(&PlruTree::of_power[static_cast<std::size_t>(std::countr_zero(leaves_))]),
          shift_(static_cast<std::uint32_t>(std::countr_zero(std::max(std::bit_ceil(ways), 8u)))),
          all_ways_(ways == 32 ? ~0u : (1u << ways) - 1),
          slots_(std::size_t{sets} << shift_),
          tags_(static_cast<LineId*>(::operator new(slots_ * sizeof(LineId), set_alignment))),
          trees_(std::size_t{sets} * groups_, 0),
          order_(groups_ == 1 ? 0 : sets, initial_order) {
        std::fill_n(tags_.get(), slots_, no_line);
    }

    /// The low bits of the line's number, or its remainder where the sets are no power of two.
    std::uint32_t set_of(LineId line) const {
        if constexpr (count == SetCount::any) {
            if ((mask_ & (mask_ + 1)) != 0) return line % (mask_ + 1);
        }
        return line & mask_;
    }
    std::uint32_t set_of_slot(std::uint32_t slot) const { return slot >> shift_; }
    std::uint32_t way_of_slot(std::uint32_t slot) const { return slot & ((1u << shift_) - 1); }
    std::uint32_t first_slot(LineId line) const { return set_of(line) << shift_; }
    LineId line_at(std::uint32_t slot) const { return tags_[slot]; }
    std::size_t slots() const { return slots_; }
    std::uint32_t ways() const { return ways_; }

    /// The slot that holds the line, or `miss`.
    std::uint32_t find(LineId line) const {
        const std::uint32_t first = first_slot(line);
        const std::uint32_t equal = ways_equal_to(first, line);
        return equal == 0 ? miss : first + static_cast<std::uint32_t>(std::countr_zero(equal));
    }

    /// Starts to fetch what there is of the line's set into the host's caches.
    void prefetch(LineId line) const {
        __builtin_prefetch(tags_.get() + first_slot(line), 1);
        __builtin_prefetch(trees_.data() + set_of(line) * groups_, 1);
    }

    /// The slot was used: it becomes the last one to be replaced.
    void touch(std::uint32_t slot) {
        const std::uint32_t set = set_of_slot(slot);
        const std::uint32_t way = way_of_slot(slot);
        if (groups_ == 1) {
            trees_[set] = tree_->touched(trees_[set], way);
            return;
        }
        const std::uint32_t group = way / group_ways;
        std::uint32_t& tree = trees_[set * groups_ + group];
        tree = tree_->touched(tree, way % group_ways);
        order_[set] = moved_to_end(order_[set], group);
    }

    /// Where `line` should go: an empty slot of its set, or the pseudo-least recently used one.
    /// Both are found by the same walk, so that slots which an abort has emptied are refilled in
    /// the order of replacement and not all in one half.
    std::uint32_t victim(LineId line) const {
        const std::uint32_t set = set_of(line);
        const std::uint32_t first = set << shift_;
        std::uint32_t candidates = ways_equal_to(first, no_line) & all_ways_;
        if (candidates == 0) candidates = all_ways_;
        if (groups_ == 1) {
            const bool whole = candidates == all_ways_ && ways_ == leaves_;
            return first + (whole ? descend(trees_[set]) : walk(trees_[set], candidates));
        }
        for (std::uint64_t order = order_[set];; order >>= 4) {
            const auto group = static_cast<std::uint32_t>(order & 15u);
            const std::uint32_t here = candidates >> (group * group_ways) & 15u;
            if (here == 0) continue;
            return first + group * group_ways + walk(trees_[set * groups_ + group], here);
        }
    }

    /// What a line has been put in place of: `line` is no_line if the slot was empty.
    struct Replaced {
        std::uint32_t slot;
        LineId line;
    };
    /// Puts a line that is not there where victim() says, as the last one to be replaced.
    Replaced replace(LineId line) {
        const std::uint32_t slot = victim(line);
        const LineId before = tags_[slot];
        tags_[slot] = line;
        touch(slot);
        return {slot, before};
    }

    void remove(std::uint32_t slot) { tags_[slot] = no_line; }

  private:
    static constexpr std::align_val_t set_alignment{64};
    struct FreeTags {
        void operator()(LineId* tags) const { ::operator delete(tags, set_alignment); }
    };
    static constexpr std::uint32_t group_ways = 4;
    static constexpr std::uint32_t initial_order = 0x76543210;  ///< a nibble a group, oldest lowest

    /// Bit w: way w holds the line; also ways beyond the last, which hold no_line.
    std::uint32_t ways_equal_to(std::uint32_t first, LineId line) const {
        const LineId* tags = tags_.get() + first;
        if (ways_ <= 8) return eight_equal_to(tags, line);
        const std::uint32_t low = eight_equal_to(tags, line) | eight_equal_to(tags + 8, line) << 8;
        if (ways_ <= 16) return low;
        return low | eight_equal_to(tags + 16, line) << 16 | eight_equal_to(tags + 24, line) << 24;
    }

    static std::uint32_t eight_equal_to(const LineId* tags, LineId line) {
#if defined(__SSE2__)
        const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
        const auto* fours = reinterpret_cast<const __m128i*>(tags);
        const __m128i low = _mm_cmpeq_epi32(_mm_load_si128(fours), wanted);
        const __m128i high = _mm_cmpeq_epi32(_mm_load_si128(fours + 1), wanted);
        const __m128i words = _mm_packs_epi32(low, high);
        return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(words, words))) & 0xffu;
#else
        std::uint32_t equal = 0;
        for (std::uint32_t way = 0; way < 8; ++way) {
            equal |= std::uint32_t{tags[way] == line} << way;
        }
        return equal;
#endif
    }

    /// The leaf that a tree points at. Steps without a branch for the usual sizes.
    std::uint32_t descend(std::uint32_t tree) const {
        const auto below = [tree](std::uint32_t node) { return node * 2 + (tree >> node & 1u); };
        switch (leaves_) {
            case 4:
                return below(below(1)) - 4;
            case 8:
                return below(below(below(1))) - 8;
            case 16:
                return below(below(below(below(1)))) - 16;
            default:
                return walk(tree, all_ways_);
        }
    }

    /// The leaf that a tree points at, turning round where a half has no candidate.
    std::uint32_t walk(std::uint32_t tree, std::uint32_t candidates) const {
        std::uint32_t node = 1;
        while (node < leaves_) {
            node = node * 2 + (tree >> node & 1u);
            if ((candidates & tree_->below[node]) == 0) node ^= 1u;
        }
        return node - leaves_;
    }

    std::uint32_t moved_to_end(std::uint32_t order, std::uint32_t group) const {
        std::uint32_t at = 0;
        while ((order >> at & 15u) != group) at += 4;
        const std::uint32_t end = (groups_ - 1) * 4;
        const std::uint32_t low = order & ((1u << at) - 1);
        const std::uint64_t above = std::uint64_t{order} >> (at + 4) << at;
        const std::uint32_t kept = low | static_cast<std::uint32_t>(above);
        return (kept & static_cast<std::uint32_t>((std::uint64_t{1} << end) - 1)) | group << end;
    }

    std::uint32_t mask_;  ///< the number of sets less one
    std::uint32_t ways_;
    std::uint32_t groups_;  ///< 1: one tree over all ways
    std::uint32_t leaves_;  ///< of a tree
    const PlruTree* tree_;
    std::uint32_t shift_;  ///< a set's slots are numbered from set << shift_
    std::uint32_t all_ways_;
    std::size_t slots_;
    std::unique_ptr<LineId[], FreeTags> tags_;  ///< a set lies on as few host lines as it can
    std::vector<std::uint32_t> trees_;          ///< bit i: where inner node i points
    std::vector<std::uint32_t> order_;          ///< of the groups of a set
};

using TagArray = TagArrayOf<SetCount::power_of_two>;

}  // namespace abortscope::model
