// SPDX-License-Identifier: Apache-2.0
//
// The memory that workers share: one range of addresses, so that a modelled address is an offset
// and the host's address-space layout changes nothing.
//
// Small blocks (up to 1 KiB) come from a chunk of the worker that asks and go back to its list of
// that size; larger ones come line-aligned from the arena's end. Inside a transaction an
// allocation is undone by an abort and a deallocation takes place at the commit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "machines/model/grow_buffer.hpp"
#include "machines/model/zeroed_memory.hpp"

namespace abortscope::model {

/// Blocks that an open transaction has taken and given back.
struct ArenaLog {
    struct Block {
        std::uint64_t offset;
        std::uint64_t size;
        std::uint32_t worker;
    };
    GrowBuffer<Block> taken;
    GrowBuffer<Block> returned;

    void clear() {
        taken.clear();
        returned.clear();
    }
};

class Arena {
  public:
    explicit Arena(std::size_t capacity, unsigned workers);

    char* base() const { return base_; }
    std::size_t capacity() const { return memory_.size(); }
    std::uint64_t offset_of(const void* place) const {
        return static_cast<std::uint64_t>(static_cast<const char*>(place) - base_);
    }
    bool contains(const void* place) const { return offset_of(place) < memory_.size(); }

    /// A block for `worker`; `log` is that of its open transaction, or null.
    /// Throws std::bad_alloc when the arena is full.
    void* allocate(std::size_t size, std::size_t alignment, unsigned worker, ArenaLog* log);
    void deallocate(void* place, std::size_t size, std::size_t alignment, unsigned worker,
                    ArenaLog* log);

    void commit(ArenaLog& log);
    void roll_back(ArenaLog& log);

    /// Names a range for reports. A later name of the same bytes hides an earlier one of the same
    /// or a larger size.
    void describe(const void* place, std::size_t size, std::string_view name);
    /// "hmap.n", "node+8", or "0x1234" for bytes that nobody has named.
    std::string name_of(std::uint64_t offset) const;

  private:
    static constexpr std::size_t granule = 16;
    static constexpr std::size_t small_limit = 1024;
    static constexpr std::size_t chunk_bytes = 64 * 1024;
    static constexpr std::size_t classes = small_limit / granule;

    struct Pool {
        std::uint64_t next = 0;
        std::uint64_t end = 0;
        std::array<GrowBuffer<std::uint64_t>, classes + 1> free;
    };
    struct Name {
        std::uint64_t begin;
        std::uint64_t size;
        std::uint32_t text;
    };

    static bool is_small(std::size_t size, std::size_t alignment) {
        return size <= small_limit && alignment <= 64;
    }
    std::uint64_t take(std::size_t size, std::size_t alignment, unsigned worker);
    void give_back(const ArenaLog::Block& block);
    std::uint64_t bump(std::size_t size, std::size_t alignment);

    ZeroedMemory memory_;
    char* base_;
    std::uint64_t end_ = 0;
    std::vector<Pool> pools_;
    std::map<std::uint64_t, GrowBuffer<std::uint64_t>> large_free_;

    std::vector<Name> names_;
    std::vector<std::string> texts_;
    std::unordered_map<std::string, std::uint32_t> text_ids_;
};

}  // namespace abortscope::model
