// SPDX-License-Identifier: Apache-2.0
//
// A set of small numbers (cores, CPUs) in ten bytes: up to four inline, more in a pooled bitmap.
//
// Most lines have few sharers and almost all have at most four transactional readers, so the
// directory stays at 32 bytes a line however large the machine is.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "machines/model/heap_guard.hpp"

namespace abortscope::model {

inline constexpr unsigned max_members = 512;

/// The bitmaps of the sets that outgrew their four inline places.
class BitmapPool {
  public:
    using Bitmap = std::array<std::uint64_t, max_members / 64>;

    std::uint32_t take() {
        const HostHeapAllowed bookkeeping;
        if (free_.empty()) {
            bitmaps_.emplace_back();
            return static_cast<std::uint32_t>(bitmaps_.size() - 1);
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        bitmaps_[index] = Bitmap{};
        return index;
    }
    void give_back(std::uint32_t index) {
        const HostHeapAllowed bookkeeping;
        free_.push_back(index);
    }
    Bitmap& operator[](std::uint32_t index) { return bitmaps_[index]; }
    std::size_t size() const { return bitmaps_.size(); }

  private:
    std::vector<Bitmap> bitmaps_;
    std::vector<std::uint32_t> free_;
};

class MemberSet {
  public:
    unsigned size() const { return count_; }
    bool empty() const { return count_ == 0; }

    bool contains(std::uint16_t id, BitmapPool& pool) const {
        if (count_ <= inline_places) {
            for (unsigned i = 0; i < count_; ++i) {
                if (ids_[i] == id) return true;
            }
            return false;
        }
        return (pool[index()][id / 64] >> (id % 64) & 1u) != 0;
    }

    /// True if `id` was not a member before.
    bool insert(std::uint16_t id, BitmapPool& pool) {
        if (count_ == 0) {
            ids_[count_++] = id;
            return true;
        }
        return insert_beside(id, pool);
    }

    void erase(std::uint16_t id, BitmapPool& pool) {
        if (count_ <= inline_places) {
            for (unsigned i = 0; i < count_; ++i) {
                if (ids_[i] != id) continue;
                ids_[i] = ids_[--count_];
                return;
            }
            return;
        }
        BitmapPool::Bitmap& bitmap = pool[index()];
        const std::uint64_t bit = std::uint64_t{1} << (id % 64);
        if ((bitmap[id / 64] & bit) == 0) return;
        bitmap[id / 64] &= ~bit;
        if (--count_ > inline_places) return;
        const std::uint32_t taken = index();
        unsigned place = 0;
        visit_bits(bitmap, [&](std::uint16_t member) { ids_[place++] = member; });
        pool.give_back(taken);
    }

    void clear(BitmapPool& pool) {
        if (count_ > inline_places) pool.give_back(index());
        count_ = 0;
    }

    /// Calls visit(id) for each member as it was at the call; the visitor may change the set.
    /// Inline members come in the order of insertion, more than four in ascending order.
    template <class Visit>
    void for_each(BitmapPool& pool, Visit visit) const {
        if (count_ <= inline_places) {
            const std::array<std::uint16_t, inline_places> ids = ids_;
            const unsigned count = count_;
            for (unsigned i = 0; i < count; ++i) visit(ids[i]);
            return;
        }
        const BitmapPool::Bitmap bitmap = pool[index()];
        visit_bits(bitmap, visit);
    }

    /// The only member of a set of one.
    std::uint16_t first() const { return ids_[0]; }

  private:
    static constexpr unsigned inline_places = 4;

    bool insert_beside(std::uint16_t id, BitmapPool& pool) {
        if (contains(id, pool)) return false;
        if (count_ < inline_places) {
            ids_[count_++] = id;
            return true;
        }
        if (count_ == inline_places) {
            const std::uint32_t taken = pool.take();
            for (std::uint16_t old : ids_) set_bit(pool[taken], old);
            ids_[0] = static_cast<std::uint16_t>(taken);
            ids_[1] = static_cast<std::uint16_t>(taken >> 16);
        }
        ++count_;
        set_bit(pool[index()], id);
        return true;
    }
    std::uint32_t index() const { return ids_[0] | std::uint32_t{ids_[1]} << 16; }
    static void set_bit(BitmapPool::Bitmap& bitmap, std::uint16_t id) {
        bitmap[id / 64] |= std::uint64_t{1} << (id % 64);
    }
    template <class Visit>
    static void visit_bits(const BitmapPool::Bitmap& bitmap, Visit visit) {
        for (unsigned word = 0; word < bitmap.size(); ++word) {
            for (std::uint64_t bits = bitmap[word]; bits != 0; bits &= bits - 1) {
                visit(static_cast<std::uint16_t>(word * 64 +
                                                 static_cast<unsigned>(std::countr_zero(bits))));
            }
        }
    }

    std::array<std::uint16_t, inline_places> ids_{};
    std::uint16_t count_ = 0;
};

}  // namespace abortscope::model
