// SPDX-License-Identifier: Apache-2.0
//
// One CPU's open transaction: the lines it holds, the bytes it overwrote, how deep it is nested.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machines/model/arena.hpp"
#include "machines/model/directory.hpp"
#include "machines/model/grow_buffer.hpp"

namespace abortscope::model {

/// A line of the read or write set, with the bytes touched (bit i = byte i). A line that left L1
/// and came back has two entries.
struct TxLine {
    LineId line;
    std::uint32_t slot;  ///< of L1, where it was put
    std::uint64_t read_bytes;
    std::uint64_t written_bytes;
    std::uint32_t first_read;     ///< in cycles after the begin
    std::uint32_t first_written;  ///< likewise
};

/// What a store replaced.
struct UndoEntry {
    std::uint64_t offset;
    std::uint64_t old_value;
    std::uint32_t size;
};

struct Transaction {
    std::uint32_t depth = 0;  ///< 0: none is open; the nest count otherwise
    Cycles began = 0;
    Cycles opened = 0;                  ///< when the begin was over
    const void* lock = nullptr;         ///< the lock it elides, as given to begin
    std::uint64_t accesses_before = 0;  ///< of the CPU
    // Up to the last step that waited for its turn, what it did is settled. From there on it has
    // only hit in L1 and can be taken back.
    Cycles settled = 0;                  ///< when that step was over
    std::uint64_t settled_accesses = 0;  ///< of the CPU by then
    Cycles delay = 0;                    ///< what such steps took more than hits would have
    GrowBuffer<TxLine> lines;
    std::vector<std::uint32_t> place;  ///< in `lines`, by slot of L1, of what is in the set
    GrowBuffer<UndoEntry> undo;
    ArenaLog arena;

    bool open() const { return depth != 0; }

    /// The begin is over at `time`.
    void start(Cycles time, const void* elided, std::uint64_t accesses) {
        depth = 1;
        opened = settled = time;
        lock = elided;
        accesses_before = settled_accesses = accesses;
        delay = 0;
    }
    void settle(Cycles time, std::uint64_t accesses, Cycles delayed) {
        settled = time;
        // Fewer where the second run of a settled part had to wait once more.
        settled_accesses = std::max(settled_accesses, accesses);
        delay += delayed;
    }
    void forget() {
        depth = 0;
        lines.clear();
        undo.clear();
    }
    std::uint32_t since_begin(Cycles time) const {
        return static_cast<std::uint32_t>(time - opened);
    }
};

}  // namespace abortscope::model
