// SPDX-License-Identifier: Apache-2.0
//
// The tags of a set-associative cache with tree-PLRU replacement.
//
// Tree-PLRU keeps one bit per inner node of a binary tree over the ways; an access turns the bits
// on its path away from itself, a victim is found by following them. Ways that are no power of
// two use the tree of the next one, and a walk that would enter an empty half turns round.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "machines/model/directory.hpp"

namespace abortscope::model {

inline constexpr LineId no_line = std::numeric_limits<LineId>::max();

class TagArray {
  public:
    static constexpr unsigned max_ways = 32;
    static constexpr std::uint32_t miss = ~std::uint32_t{0};

    TagArray(std::uint32_t sets, std::uint32_t ways)
        : sets_(sets),
          set_mask_(std::has_single_bit(sets) ? sets - 1 : 0),
          ways_(ways),
          leaves_(std::max(std::bit_ceil(ways), 4u)),
          shift_(static_cast<std::uint32_t>(std::countr_zero(leaves_))),
          tags_(std::size_t{sets} << shift_, no_line),
          tree_(sets, 0) {
        for (unsigned way = 0; way < ways; ++way) {
            for (unsigned node = leaves_ + way; node > 1; node /= 2) {
                const std::uint32_t bit = std::uint32_t{1} << (node / 2);
                clear_[way] |= bit;
                if (node % 2 == 0) point_away_[way] |= bit;
            }
        }
    }

    /// The low bits of the line's number, or its remainder where the sets are no power of two (an
    /// L3 of as many slices as there are cores).
    std::uint32_t set_of(LineId line) const {
        return set_mask_ != 0 || sets_ == 1 ? line & set_mask_ : line % sets_;
    }
    std::uint32_t set_of_slot(std::uint32_t slot) const { return slot >> shift_; }
    std::uint32_t way_of_slot(std::uint32_t slot) const { return slot & (leaves_ - 1); }
    std::uint32_t first_slot(LineId line) const { return set_of(line) << shift_; }
    LineId line_at(std::uint32_t slot) const { return tags_[slot]; }
    std::size_t slots() const { return tags_.size(); }
    std::uint32_t ways() const { return ways_; }

    /// The slot that holds the line, or `miss`.
    std::uint32_t find(LineId line) const {
        const std::uint32_t first = set_of(line) << shift_;
        const LineId* tags = tags_.data() + first;
#if defined(__SSE2__)
        const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
        for (std::uint32_t way = 0; way < ways_; way += 4) {
            const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags + way));
            const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)));
            if (equal != 0) {
                return first + way +
                       static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(equal)));
            }
        }
#else
        for (std::uint32_t way = 0; way < ways_; ++way) {
            if (tags[way] == line) return first + way;
        }
#endif
        return miss;
    }

    /// The slot was used: it becomes the last one to be replaced.
    void touch(std::uint32_t slot) {
        const std::uint32_t set = set_of_slot(slot);
        const std::uint32_t way = way_of_slot(slot);
        tree_[set] = (tree_[set] & ~clear_[way]) | point_away_[way];
    }

    /// Where `line` should go: an empty slot of its set, or the pseudo-least recently used one.
    std::uint32_t victim(LineId line) const {
        const std::uint32_t set = set_of(line);
        const std::uint32_t first = set << shift_;
        for (std::uint32_t way = 0; way < ways_; ++way) {
            if (tags_[first + way] == no_line) return first + way;
        }
        std::uint32_t node = 1;
        while (node < leaves_) {
            node = node * 2 + (tree_[set] >> node & 1u);
            if (first_leaf(node) >= ways_) node ^= 1u;
        }
        return first + node - leaves_;
    }

    void place(std::uint32_t slot, LineId line) {
        tags_[slot] = line;
        touch(slot);
    }
    void remove(std::uint32_t slot) {
        tags_[slot] = no_line;
    }

  private:
    /// The lowest way below a node of the tree.
    std::uint32_t first_leaf(std::uint32_t node) const {
        while (node < leaves_) node *= 2;
        return node - leaves_;
    }

    std::uint32_t sets_;
    std::uint32_t set_mask_;
    std::uint32_t ways_;
    std::uint32_t leaves_;  ///< ways rounded up to a power of two, and at least 4
    std::uint32_t shift_;   ///< a set's slots are numbered from set << shift_
    std::array<std::uint32_t, max_ways> clear_{};
    std::array<std::uint32_t, max_ways> point_away_{};
    std::vector<LineId> tags_;
    std::vector<std::uint32_t> tree_;
};

}  // namespace abortscope::model
