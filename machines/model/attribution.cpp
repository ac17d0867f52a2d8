// SPDX-License-Identifier: Apache-2.0
#include "machines/model/attribution.hpp"

#include "primitives/rtm_status.hpp"

namespace abortscope::model {

LineParty& Attribution::party(LineHistory& line, unsigned worker) {
    for (LineParty& known : line.parties) {
        if (known.worker == worker) return known;
    }
    line.parties.push_back({worker});
    return line.parties.back();
}

void Attribution::add(const AbortEvent& event) {
    ++reasons_[index_of(event.reason)];
    if (event.line == no_line) return;
    LineHistory& line = lines_[event.line];
    switch (event.reason) {
        case AbortReason::conflict:
            ++line.conflicts;
            if (event.false_sharing()) ++line.false_sharing;
            if (!event.killer_wrote) ++line.by_read;
            if (!event.killer_in_transaction) ++line.from_outside;
            break;
        case AbortReason::capacity_read:
        case AbortReason::capacity_write:
            ++line.capacity;
            capacity_lines_ += event.lines;
            if (event.level == 1) ++capacity_map_[std::size_t{event.set} * ways_ + event.way];
            break;
        default:
            ++line.lock_busy;
            break;
    }
    line.lock = event.victim_lock;
    line.victim_site = event.victim_site;
    if (event.victim_lock != no_offset && event.victim_lock / line_bytes == event.line) {
        ++line.lock_word;
    }
    LineParty& victim = party(line, event.victim);
    victim.read |= event.victim_read;
    victim.written |= event.victim_written;
    ++victim.died;
    if (event.killer < 0) return;
    line.killer_site = event.killer_site;
    LineParty& killer = party(line, static_cast<unsigned>(event.killer));
    (event.killer_wrote ? killer.written : killer.read) |= event.killer_bytes;
    ++killer.killed;
}

}  // namespace abortscope::model
