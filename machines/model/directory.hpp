// SPDX-License-Identifier: Apache-2.0
//
// The directory: for every line of the arena, which cores hold it and which transactions do.
//
// An entry is 32 bytes, found by index (line = offset / 64), so the access path never hashes.
// Entries exist for the whole arena's address space; the host pays for those that are touched.
#pragma once

#include <cstdint>

#include "machines/model/member_set.hpp"
#include "machines/model/zeroed_memory.hpp"

namespace abortscope::model {

using Cycles = std::uint64_t;
using LineId = std::uint32_t;

inline constexpr unsigned line_bytes = 64;
inline constexpr std::uint16_t nobody = 0;  ///< ids in `LineState` are stored plus one

struct LineState {
    MemberSet sharers;                         ///< cores with a copy in L1 or L2
    MemberSet tx_readers;                      ///< CPUs whose open transaction has read the line
    std::uint16_t owner_plus1 = nobody;        ///< the core that may write without asking
    std::uint16_t tx_writer_plus1 = nobody;    ///< the CPU whose open transaction wrote the line
    std::uint16_t last_writer_plus1 = nobody;  ///< the worker that last wrote it, for reports
    std::uint16_t free_at_high = 0;            ///< the two top bits: read_waits, contested
    std::uint32_t free_at_low = 0;

    /// When the line has served the requests before; 46 bits of cycles (6 hours at 3 GHz).
    Cycles free_at() const { return Cycles{free_at_high & 0x3fffu} << 32 | free_at_low; }
    void set_free_at(Cycles time) {
        free_at_high = static_cast<std::uint16_t>((free_at_high & 0xc000u) | time >> 32);
        free_at_low = static_cast<std::uint32_t>(time);
    }
    /// The last request that waits is a read.
    bool read_waits() const { return (free_at_high & 0x8000u) != 0; }
    void set_read_waits(bool read) {
        free_at_high = static_cast<std::uint16_t>((free_at_high & 0x7fffu) | (read ? 0x8000u : 0));
    }
    /// A core has written it while another one had it.
    bool contested() const { return (free_at_high & 0x4000u) != 0; }
    void set_contested() { free_at_high |= 0x4000u; }
};
static_assert(sizeof(LineState) == 32);

class Directory {
  public:
    explicit Directory(std::size_t lines)
        : memory_(lines * sizeof(LineState)), lines_(static_cast<LineState*>(memory_.get())) {}

    LineState& operator[](LineId line) { return lines_[line]; }
    BitmapPool& pool() { return pool_; }
    /// Starts to fetch an entry into the host's caches.
    void prefetch(LineId line) const { __builtin_prefetch(lines_ + line, 1); }

  private:
    ZeroedMemory memory_;
    LineState* lines_;
    BitmapPool pool_;
};

}  // namespace abortscope::model
