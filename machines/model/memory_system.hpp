// SPDX-License-Identifier: Apache-2.0
//
// Caches and coherence: which core holds a line, in which of its caches, and what getting it costs.
//
//   state of a line in a core     owner is the core   in the core's sharers   L1 slot writable
//   modified or exclusive               yes                  alone                  yes
//   shared                              no                   yes                    no
//   invalid                             no                   no                     (absent)
//
// A core's private caches are L1 and L2 (neither includes the other); it is a sharer while either
// has the line. L3 is per socket. The memory system knows transactions only as marks on L1 slots
// and as the directory's tx fields: it reports the transactions that lose a line that they need
// (`casualties`), and leaves it to the engine to end them.
//
// Mechanisms and their sources are in docs/model.md.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "machines/model/background.hpp"
#include "machines/model/directory.hpp"
#include "machines/model/event_counts.hpp"
#include "machines/model/grow_buffer.hpp"
#include "machines/model/preset.hpp"
#include "machines/model/tag_array.hpp"

namespace abortscope::model {

/// What an access does to its line.
enum class Access : std::uint8_t {
    load,
    store,
    atomic,  ///< a locked read-modify-write: takes the line for writing even if it fails
};

/// What an L1 slot carries beyond the tag: bits, so that one comparison can ask for several.
using SlotState = std::uint16_t;
inline constexpr SlotState contested = 1;  ///< as in LineState; an index too
inline constexpr SlotState watched = 2;    ///< a thread of the core is parked on the line
inline constexpr SlotState wanted = 4;     ///< others queue for the line
inline constexpr SlotState may_write = 8;  ///< the core may write without asking
inline constexpr SlotState any_written = 0xf000;
/// The transaction of the core's thread has read the line, has written it.
constexpr SlotState read_by(unsigned thread) {
    return static_cast<SlotState>(0x100u << thread);
}
constexpr SlotState written_by(unsigned thread) {
    return static_cast<SlotState>(0x1000u << thread);
}

/// All that a transaction of the thread marks.
constexpr SlotState marks_of(unsigned thread) {
    return static_cast<SlotState>(read_by(thread) | written_by(thread));
}

struct L1Cache {
    TagArray tags;
    /// What a set was asked for last. To touch it once more would change nothing.
    struct Latest {
        LineId line = no_line;
        std::uint32_t slot = 0;
    };
    std::vector<Latest> latest;  ///< by set
    std::vector<SlotState> states;
    unsigned watched_slots = 0;

    L1Cache(std::uint32_t sets, std::uint32_t ways)
        : tags(sets, ways), latest(sets), states(tags.slots()) {}

    void touch(std::uint32_t slot) {
        tags.touch(slot);
        latest[tags.set_of_slot(slot)] = {tags.line_at(slot), slot};
    }
    /// A line that has left (no_line: the slot was empty), and what its slot carried.
    struct Lost {
        std::uint32_t slot;
        LineId line;
        SlotState state;
    };
    Lost remove(std::uint32_t slot) {
        Latest& last = latest[tags.set_of_slot(slot)];
        if (last.slot == slot) last.line = no_line;
        const LineId line = tags.line_at(slot);
        tags.remove(slot);
        return {slot, line, reset(slot)};
    }
    /// Puts a line that is not there in the place of its set's victim.
    Lost replace(LineId line) {
        const TagArray::Replaced replaced = tags.replace(line);
        latest[tags.set_of(line)] = {line, replaced.slot};
        return {replaced.slot, replaced.line, reset(replaced.slot)};
    }
    void watch(std::uint32_t slot) {
        if ((states[slot] & watched) == 0) ++watched_slots;
        states[slot] |= watched;
    }
    void unwatch(std::uint32_t slot) {
        if ((states[slot] & watched) != 0) --watched_slots;
        states[slot] &= static_cast<SlotState>(~watched);
    }

    /// Whether the line is there with the rights that the access needs; `slot` is where it was a
    /// moment ago, or `miss`, and becomes where it is now.
    bool serves(LineId line, Access access, std::uint32_t& slot) const {
        if (slot == TagArray::miss || tags.line_at(slot) != line) slot = tags.find(line);
        return slot != TagArray::miss &&
               (access == Access::load || (states[slot] & may_write) != 0);
    }

  private:
    SlotState reset(std::uint32_t slot) {
        const SlotState before = std::exchange(states[slot], SlotState{0});
        if ((before & watched) != 0) --watched_slots;
        return before;
    }
};

struct Core {
    std::uint16_t id;
    std::uint16_t socket;
    L1Cache l1;
    TagArray l2;
    Background background;
};

/// A transaction that has lost a line it must keep: it has to abort for capacity.
struct Casualty {
    std::uint16_t cpu;
    LineId line;
    bool written;
    std::uint8_t level;  ///< of the cache that overflowed
    std::uint32_t set;
    std::uint32_t way;
};

/// A watched line that its core's L1 has lost.
struct LostWatch {
    std::uint16_t core;
    LineId line;
};

class MemorySystem {
  public:
    MemorySystem(const Preset& preset, Directory& directory);

    Core& core(std::uint16_t id) { return cores_[id]; }
    std::uint16_t core_of_cpu(std::uint16_t cpu) const {
        return static_cast<std::uint16_t>(cpu % cores_.size());
    }
    /// Which of its core's threads a CPU is. CPUs are numbered cores first, siblings after, as
    /// Linux does: CPU i and CPU i + cores share a core.
    std::uint8_t thread_of_cpu(std::uint16_t cpu) const {
        return static_cast<std::uint8_t>(cpu / cores_.size());
    }
    std::uint16_t cpu_of(std::uint16_t core, unsigned thread) const {
        return static_cast<std::uint16_t>(core + thread * cores_.size());
    }

    /// A core that has just got a line keeps it until the next request has been ordered behind its
    /// own and has reached it: when that will be for a request of `core` at `now`, at the earliest
    /// `now`. A place in the line's queue is taken; the access itself must happen at that time.
    Cycles turn_of(const Core& core, LineId line, Access access, Cycles now);

    /// Gets a line that L1 cannot serve (L1Cache::serves) into the core's L1 for one of its
    /// threads, writable for store and atomic, at `now`; returns the slot and adds the cycles it
    /// took to `cost`. `slot` is where the line is in L1, or `miss`; `queued` is how long the
    /// request has waited for its turn (turn_of). Conflicts must have been resolved. Appends to
    /// `casualties`; the caller ends those transactions. An atomic that runs at the line's home
    /// (Preset::far_atomics) brings no line: TagArray::miss.
    std::uint32_t acquire(Core& core, std::uint8_t thread, LineId line, Access access,
                          std::uint32_t slot, Cycles now, Cycles queued, Cycles& cost,
                          EventCounts& counts);

    /// The core is about to acquire a line that its L1 has not: starts to fetch what that will look
    /// at, so that the host's cache misses pass while other workers run. (The directory's entry is
    /// the caller's part: it is looked at in any case.)
    void prefetch_for_miss(const Core& core, LineId line) const {
        l3_[core.socket].prefetch(line);
        if (core.l2.find(line) != TagArray::miss) return;
        const LineId evicted = core.l2.line_at(core.l2.victim(line));
        if (evicted != no_line) directory_.prefetch(evicted);
    }

    /// The countdown of the thread's background clock is over.
    void use_background(Core& core, std::uint8_t thread) {
        if (Background::Line* line = core.background.due(thread)) bring_background(core, *line);
    }

    /// The core's L1 loses the line, unwritten (a transaction's writes are undone).
    void discard_from_l1(Core& core, LineId line);

    GrowBuffer<Casualty>& casualties() { return casualties_; }
    GrowBuffer<LostWatch>& lost_watches() { return lost_watches_; }

  private:
    struct Source {
        Cycles latency;
        Cycles busy;  ///< how long the line cannot serve others
        Cycles kept;  ///< how long the requester keeps it after that, whoever asks for it
    };

    Source read_source(Core& core, LineId line, LineState& state, EventCounts& counts);
    Source write_source(Core& core, LineId line, LineState& state, bool in_l1, EventCounts& counts);
    Source atomic_at_home(Core& core, LineId line, LineState& state, EventCounts& counts);
    Source fetch(Core& core, LineId line, const LineState& state, EventCounts& counts);
    bool runs_at_home(const Core& core, const LineState& state, Access access) const;
    Cycles transfer_latency(const Core& from, const Core& to) const;
    Cycles snoop_part(Cycles latency) const { return latency * preset_.transfer_snoop_pct / 100; }
    void bring_background(Core& core, Background::Line& line);
    std::uint32_t fill_l1(Core& core, LineId line);
    void fill_l2(Core& core, LineId line);  // which L2 does not have
    void fill_l3(std::uint16_t socket, LineId line);
    void lost_from_l1(Core& core, const L1Cache::Lost& lost, std::uint8_t level);
    void drop_from_core(Core& core, LineId line, std::uint8_t level);
    void left_core(Core& core, LineId line);

    const Preset& preset_;
    Directory& directory_;
    std::vector<Core> cores_;
    using L3Cache = TagArrayOf<SetCount::any>;
    std::vector<L3Cache> l3_;  ///< one a socket

    GrowBuffer<Casualty> casualties_;
    GrowBuffer<LostWatch> lost_watches_;
};

}  // namespace abortscope::model
