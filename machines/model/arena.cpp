// SPDX-License-Identifier: Apache-2.0
#include "machines/model/arena.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "machines/model/directory.hpp"
#include "machines/model/heap_guard.hpp"

namespace abortscope::model {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

// What a request really takes: small ones in steps of 16 bytes (or their alignment), large ones in
// lines.
std::uint64_t block_bytes(std::size_t size, std::size_t alignment, bool small) {
    const std::size_t step = small ? std::max<std::size_t>(alignment, 16) : line_bytes;
    return round_up(std::max<std::size_t>(size, 1), step);
}

}  // namespace

// The first page stays unused, so that offset 0 is no object's address.
Arena::Arena(std::size_t capacity, unsigned workers)
    : memory_(capacity), base_(static_cast<char*>(memory_.get())), end_(4096), pools_(workers) {}

std::uint64_t Arena::bump(std::size_t size, std::size_t alignment) {
    const std::uint64_t start = round_up(end_, alignment);
    if (start + size > memory_.size()) throw std::bad_alloc();
    end_ = start + size;
    return start;
}

std::uint64_t Arena::take(std::size_t size, std::size_t alignment, unsigned worker) {
    const bool small = is_small(size, alignment);
    const std::uint64_t rounded = block_bytes(size, alignment, small);
    if (!small) {
        const auto found = large_free_.find(rounded);
        if (alignment <= line_bytes && found != large_free_.end() && !found->second.empty()) {
            const std::uint64_t offset = found->second.back();
            found->second.pop_back();
            return offset;
        }
        return bump(rounded, std::max<std::size_t>(alignment, line_bytes));
    }
    Pool& pool = pools_[worker];
    GrowBuffer<std::uint64_t>& free = pool.free[rounded / granule];
    if (!free.empty() && free.back() % alignment == 0) {
        const std::uint64_t offset = free.back();
        free.pop_back();
        return offset;
    }
    pool.next = round_up(pool.next, alignment);
    if (pool.next + rounded > pool.end) {
        pool.next = bump(chunk_bytes, line_bytes);
        pool.end = pool.next + chunk_bytes;
    }
    const std::uint64_t offset = pool.next;
    pool.next += rounded;
    return offset;
}

void Arena::give_back(const ArenaLog::Block& block) {
    const HostHeapAllowed bookkeeping;
    if (block.size > small_limit) {
        large_free_[block.size].push_back(block.offset);
    } else {
        pools_[block.worker].free[block.size / granule].push_back(block.offset);
    }
}

void* Arena::allocate(std::size_t size, std::size_t alignment, unsigned worker, ArenaLog* log) {
    const std::uint64_t offset = take(size, alignment, worker);
    if (log != nullptr) {
        log->taken.push_back(
            {offset, block_bytes(size, alignment, is_small(size, alignment)), worker});
    }
    return base_ + offset;
}

void Arena::deallocate(void* place, std::size_t size, std::size_t alignment, unsigned worker,
                       ArenaLog* log) {
    const ArenaLog::Block block{offset_of(place),
                                block_bytes(size, alignment, is_small(size, alignment)), worker};
    if (log != nullptr) {
        log->returned.push_back(block);
    } else {
        give_back(block);
    }
}

void Arena::commit(ArenaLog& log) {
    for (const ArenaLog::Block& block : log.returned) give_back(block);
    log.clear();
}

void Arena::roll_back(ArenaLog& log) {
    while (!log.taken.empty()) {
        give_back(log.taken.back());
        log.taken.pop_back();
    }
    log.clear();
}

void Arena::describe(const void* place, std::size_t size, std::string_view name) {
    const HostHeapAllowed bookkeeping;
    const auto [entry, added] =
        text_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.emplace_back(name);
    names_.push_back({offset_of(place), size, entry->second});
}

std::string Arena::name_of(std::uint64_t offset) const {
    const Name* best = nullptr;
    for (const Name& name : names_) {
        if (offset < name.begin || offset >= name.begin + name.size) continue;
        if (best == nullptr || name.size <= best->size) best = &name;
    }
    if (best == nullptr) return fmt::format("{:#x}", offset);
    const std::string& text = texts_[best->text];
    if (offset == best->begin) return text;
    return fmt::format("{}+{}", text, offset - best->begin);
}

}  // namespace abortscope::model
