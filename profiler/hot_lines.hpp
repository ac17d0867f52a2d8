// SPDX-License-Identifier: Apache-2.0
//
// The cache lines that a trial's transactions died of, worst first. Known on the model only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace abortscope {

namespace model {
class Engine;
}

/// What one worker touched of a line, as killer or victim; bit i of a mask is byte i.
struct LineUse {
    unsigned worker = 0;
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    std::uint64_t killed = 0;  ///< other workers' transactions that its accesses ended
    std::uint64_t died = 0;    ///< own transactions that ended here
};

/// A run of bytes of a line that belong to one object and are used alike.
struct LineField {
    std::string object;       ///< "hmap.n", "shared line+8"
    std::uint64_t bytes = 0;  ///< a mask
    std::vector<unsigned> writers;
    std::vector<unsigned> readers;
};

struct HotLine {
    std::string object;    ///< the object whose bytes were written, or touched if none: "hmap.n"
    std::string lock;      ///< the lock elided by the last victim; empty: none
    bool is_lock = false;  ///< the line holds the lock's word itself, in most of the aborts
    std::uint64_t aborts = 0;
    std::uint64_t conflicts = 0;
    std::uint64_t false_sharing = 0;  ///< of the conflicts: over bytes that the victim never used
    std::uint64_t by_read = 0;        ///< of the conflicts: the killer read what the victim wrote
    std::uint64_t from_outside = 0;   ///< of the conflicts: the killer was in no transaction
    std::uint64_t capacity = 0;
    std::uint64_t lock_busy = 0;
    std::string victim_site;  ///< what the last victim and its killer were doing
    std::string killer_site;
    std::vector<LineUse> uses;      ///< by worker
    std::vector<LineField> fields;  ///< ascending; bytes that nobody used are left out
};

/// The `most` worst lines of an engine's trial; ties by address.
std::vector<HotLine> hot_lines_of(const model::Engine& engine, std::size_t most);

}  // namespace abortscope
