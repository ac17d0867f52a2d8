// SPDX-License-Identifier: Apache-2.0
#include "machines/model/memory_system.hpp"

#include <algorithm>

namespace abortscope::model {
namespace {

// Lines above every arena line: they have no directory entry.
bool is_background(LineId line) {
    return line >= background_base;
}

void withdraw_rights(SlotState& state) {
    state &= static_cast<SlotState>(~(may_write | wanted));
}

std::uint16_t plus1(std::uint16_t id) {
    return static_cast<std::uint16_t>(id + 1);
}

}  // namespace

MemorySystem::MemorySystem(const Preset& preset, Directory& directory)
    : preset_(preset), directory_(directory) {
    for (std::uint16_t id = 0; id < preset.cores(); ++id) {
        cores_.push_back({id, static_cast<std::uint16_t>(id / preset.cores_per_socket),
                          L1Cache(preset.l1_sets, preset.l1_ways),
                          TagArray(preset.l2_sets, preset.l2_ways),
                          Background(preset.background_lines, preset.background_period,
                                     preset.threads_per_core, preset.l1_sets)});
    }
    for (unsigned socket = 0; socket < preset.sockets; ++socket) {
        l3_.emplace_back(preset.l3_sets, preset.l3_ways);
    }
}

bool MemorySystem::runs_at_home(const Core& core, const LineState& state, Access access) const {
    return access == Access::atomic && preset_.far_atomics != 0 &&
           state.owner_plus1 != plus1(core.id);
}

Cycles MemorySystem::transfer_latency(const Core& from, const Core& to) const {
    return from.socket == to.socket ? preset_.transfer_cycles : preset_.remote_cycles;
}

Cycles MemorySystem::turn_of(const Core& core, LineId line, Access access, Cycles now) {
    LineState& state = directory_[line];
    const Cycles turn = state.free_at();
    if (state.owner_plus1 == plus1(core.id)) return now;
    if (access == Access::load && core.l2.find(line) != TagArray::miss) return now;
    Cycles busy = preset_.transfer_cycles;
    if (state.owner_plus1 != nobody) {
        Core& owner = cores_[state.owner_plus1 - 1u];
        busy = transfer_latency(owner, core);
        const std::uint32_t held = owner.l1.tags.find(line);
        if (held != TagArray::miss) owner.l1.states[held] |= wanted;
    } else if (runs_at_home(core, state, access)) {
        busy = preset_.far_atomic_busy_cycles;
    }
    // A read behind a read finds the line shared.
    const bool read = access == Access::load;
    if (read && state.read_waits()) busy = preset_.line_busy_cycles;
    state.set_read_waits(read);
    state.set_free_at(turn + busy);
    return turn;
}

std::uint32_t MemorySystem::acquire(Core& core, std::uint8_t thread, LineId line, Access access,
                                    std::uint32_t slot, Cycles now, Cycles queued, Cycles& cost,
                                    EventCounts& counts) {
    L1Cache& l1 = core.l1;
    const bool in_l1 = slot != TagArray::miss;
    const bool write = access != Access::load;
    if (!in_l1) ++counts.l1_misses;
    LineState& state = directory_[line];
    const bool at_home = runs_at_home(core, state, access);
    const Source source = at_home ? atomic_at_home(core, line, state, counts)
                          : write ? write_source(core, line, state, in_l1, counts)
                                  : read_source(core, line, state, counts);
    Cycles latency = source.latency;
    if (queued != 0) {
        // While it waited, the request has come as far as the line's holder.
        latency -= std::min(queued, snoop_part(latency));
        state.set_free_at(std::max(state.free_at(), now + source.busy));
    } else if (source.busy != 0) {
        const Cycles start = std::max(now, state.free_at());
        latency += start - now;
        state.set_read_waits(false);
        state.set_free_at(start + source.busy + source.kept);
    }
    cost += access == Access::store ? latency * preset_.store_visible_pct / 100 : latency;

    if (at_home) return TagArray::miss;
    if (in_l1) {
        l1.touch(slot);
    } else {
        slot = fill_l1(core, line);
    }
    SlotState carried = l1.states[slot];
    withdraw_rights(carried);
    if (state.contested()) carried |= contested;
    // A core that has read the line in a transaction may have lost it since, and must be asked.
    const std::size_t readers = state.tx_readers.size();
    const bool asks =
        readers > 1 || (readers == 1 && state.tx_readers.first() != cpu_of(core.id, thread));
    if (state.owner_plus1 == plus1(core.id) && !asks) carried |= may_write;
    if (queued != 0 && state.free_at() > now + source.busy) carried |= wanted;
    l1.states[slot] = carried;
    return slot;
}

[[gnu::always_inline]] inline MemorySystem::Source MemorySystem::read_source(Core& core,
                                                                             LineId line,
                                                                             LineState& state,
                                                                             EventCounts& counts) {
    const std::uint32_t in_l2 = core.l2.find(line);
    if (in_l2 != TagArray::miss) {
        core.l2.touch(in_l2);
        return {preset_.l2_hit_cycles, 0, 0};
    }
    ++counts.l2_misses;
    Source source{};
    if (state.owner_plus1 != nobody && state.owner_plus1 != plus1(core.id)) {
        Core& owner = cores_[state.owner_plus1 - 1u];
        const std::uint32_t held = owner.l1.tags.find(line);
        if (held != TagArray::miss) withdraw_rights(owner.l1.states[held]);
        state.owner_plus1 = nobody;
        ++counts.cache_transfers;
        const Cycles latency = transfer_latency(owner, core);
        source = {latency, latency, 0};
        if (preset_.l3_inclusive == 0) fill_l3(core.socket, line);
    } else {
        source = fetch(core, line, state, counts);
    }
    fill_l2(core, line);
    if (state.sharers.empty()) state.owner_plus1 = plus1(core.id);
    state.sharers.insert(core.id, directory_.pool());
    return source;
}

MemorySystem::Source MemorySystem::write_source(Core& core, LineId line, LineState& state,
                                                bool in_l1, EventCounts& counts) {
    const std::uint32_t in_l2 = core.l2.find(line);
    if (in_l2 != TagArray::miss) core.l2.touch(in_l2);
    if (state.owner_plus1 == plus1(core.id)) return {preset_.l2_hit_cycles, 0, 0};
    if (in_l2 == TagArray::miss && !in_l1) ++counts.l2_misses;

    Source source{};
    bool remote = false;
    bool shared_elsewhere = false;
    state.sharers.for_each(directory_.pool(), [&](std::uint16_t sharer) {
        if (sharer == core.id) return;
        shared_elsewhere = true;
        remote |= cores_[sharer].socket != core.socket;
    });
    const bool had_copy = in_l1 || in_l2 != TagArray::miss;
    if (state.owner_plus1 != nobody) {
        ++counts.cache_transfers;
        const Cycles latency = remote ? preset_.remote_cycles : preset_.transfer_cycles;
        source = {latency, latency, snoop_part(latency)};
    } else if (had_copy) {
        ++counts.upgrades;
        const Cycles latency = remote ? preset_.remote_cycles : preset_.upgrade_cycles;
        source = {latency, latency, snoop_part(preset_.transfer_cycles)};
    } else if (shared_elsewhere) {
        const Cycles latency = remote ? preset_.remote_cycles
                                      : std::max(preset_.l3_hit_cycles, preset_.upgrade_cycles);
        source = {latency, latency, snoop_part(preset_.transfer_cycles)};
    } else {
        source = fetch(core, line, state, counts);
    }
    if (shared_elsewhere) {
        state.set_contested();
        state.sharers.for_each(directory_.pool(), [&](std::uint16_t sharer) {
            if (sharer != core.id) drop_from_core(cores_[sharer], line, 0);
        });
    }
    if (in_l2 == TagArray::miss) fill_l2(core, line);
    state.sharers.insert(core.id, directory_.pool());
    state.owner_plus1 = plus1(core.id);
    return source;
}

// The operation goes to the line's home (its L3 slice) instead of the line coming here. Every copy
// is invalidated, the requester's own too, and the line stays at home.
MemorySystem::Source MemorySystem::atomic_at_home(Core& core, LineId line, LineState& state,
                                                  EventCounts& counts) {
    Source source{preset_.l3_hit_cycles, preset_.far_atomic_busy_cycles, 0};
    bool remote = false;
    bool held = false;
    state.sharers.for_each(directory_.pool(), [&](std::uint16_t sharer) {
        held = true;
        remote |= cores_[sharer].socket != core.socket;
    });
    if (state.owner_plus1 != nobody) {
        ++counts.cache_transfers;
        source.latency = remote ? preset_.remote_cycles : preset_.transfer_cycles;
        source.busy = source.latency;
    } else if (held) {
        ++counts.upgrades;
        source.latency = remote ? preset_.remote_cycles
                                : std::max(preset_.l3_hit_cycles, preset_.upgrade_cycles);
        source.busy = std::max(preset_.upgrade_cycles, preset_.far_atomic_busy_cycles);
    } else {
        source.latency = fetch(core, line, state, counts).latency;
    }
    state.sharers.for_each(directory_.pool(),
                           [&](std::uint16_t sharer) { drop_from_core(cores_[sharer], line, 0); });
    fill_l3(core.socket, line);
    return source;
}

// Nobody owns the line: from the nearest L3 or core that has it, or from memory.
[[gnu::always_inline]] inline MemorySystem::Source MemorySystem::fetch(Core& core, LineId line,
                                                                       const LineState& state,
                                                                       EventCounts& counts) {
    L3Cache& l3 = l3_[core.socket];
    const std::uint32_t here = l3.find(line);
    if (here != TagArray::miss) {
        l3.touch(here);
        return {preset_.l3_hit_cycles, preset_.line_busy_cycles, 0};
    }
    ++counts.l3_misses;
    bool near = false;
    bool far = false;
    state.sharers.for_each(directory_.pool(), [&](std::uint16_t sharer) {
        (cores_[sharer].socket == core.socket ? near : far) = true;
    });
    for (std::uint16_t socket = 0; socket < l3_.size() && !far; ++socket) {
        far = socket != core.socket && l3_[socket].find(line) != TagArray::miss;
    }
    if (preset_.l3_inclusive != 0) fill_l3(core.socket, line);
    if (near) return {preset_.transfer_cycles, preset_.line_busy_cycles, 0};
    if (far) return {preset_.remote_cycles, preset_.line_busy_cycles, 0};
    return {preset_.memory_cycles, preset_.line_busy_cycles, 0};
}

[[gnu::always_inline]] inline std::uint32_t MemorySystem::fill_l1(Core& core, LineId line) {
    // A parked spinner would have used its line a moment ago.
    L1Cache& l1 = core.l1;
    if (l1.watched_slots != 0) {
        const std::uint32_t first = l1.tags.first_slot(line);
        for (std::uint32_t way = 0; way < l1.tags.ways(); ++way) {
            if ((l1.states[first + way] & watched) != 0) l1.touch(first + way);
        }
    }
    for (Background::Line& other : core.background.in(l1.tags.set_of(line))) {
        if (other.slot != Background::absent && core.background.used(other)) l1.touch(other.slot);
    }
    const L1Cache::Lost lost = l1.replace(line);
    if (lost.line != no_line) lost_from_l1(core, lost, 1);
    return lost.slot;
}

[[gnu::always_inline]] inline void MemorySystem::fill_l2(Core& core, LineId line) {
    const TagArray& l2 = core.l2;
    const auto [slot, evicted] = core.l2.replace(line);
    if (evicted == no_line) return;
    if (preset_.l3_inclusive == 0) fill_l3(core.socket, evicted);
    if (core.l1.tags.find(evicted) != TagArray::miss) return;
    if (preset_.rtm_read_tracking == static_cast<std::uint32_t>(ReadTracking::l2)) {
        const LineState& lost = directory_[evicted];
        lost.tx_readers.for_each(directory_.pool(), [&](std::uint16_t cpu) {
            if (core_of_cpu(cpu) == core.id) {
                casualties_.push_back(
                    {cpu, evicted, false, 2, l2.set_of_slot(slot), l2.way_of_slot(slot)});
            }
        });
    }
    left_core(core, evicted);
}

void MemorySystem::fill_l3(std::uint16_t socket, LineId line) {
    L3Cache& l3 = l3_[socket];
    const std::uint32_t present = l3.find(line);
    if (present != TagArray::miss) {
        l3.touch(present);
        return;
    }
    const auto [slot, evicted] = l3.replace(line);
    if (evicted == no_line || preset_.l3_inclusive == 0) return;
    // Inclusive: what L3 loses, the socket's cores lose too, and no one watches the line for the
    // transactions that have read it.
    LineState& lost = directory_[evicted];
    lost.tx_readers.for_each(directory_.pool(), [&](std::uint16_t cpu) {
        if (cores_[core_of_cpu(cpu)].socket == socket) {
            casualties_.push_back(
                {cpu, evicted, false, 3, l3.set_of_slot(slot), l3.way_of_slot(slot)});
        }
    });
    lost.sharers.for_each(directory_.pool(), [&](std::uint16_t sharer) {
        if (cores_[sharer].socket == socket) drop_from_core(cores_[sharer], evicted, 3);
    });
}

/// What follows where a line has left L1, pushed out of the cache of that level (0: by another
/// core's write).
[[gnu::always_inline]] inline void MemorySystem::lost_from_l1(Core& core, const L1Cache::Lost& lost,
                                                              std::uint8_t level) {
    const TagArray& tags = core.l1.tags;
    for (unsigned thread = 0; (lost.state & any_written) != 0 && thread < 4; ++thread) {
        if ((lost.state & written_by(thread)) != 0) {
            casualties_.push_back({cpu_of(core.id, thread), lost.line, true, level,
                                   tags.set_of_slot(lost.slot), tags.way_of_slot(lost.slot)});
        }
    }
    if ((lost.state & watched) != 0) lost_watches_.push_back({core.id, lost.line});
    if (is_background(lost.line)) {
        core.background.lost(lost.line, tags.set_of(lost.line));
        return;
    }
    if (level != 1 || core.l2.find(lost.line) != TagArray::miss) return;
    if ((lost.state & may_write) != 0) {
        fill_l2(core, lost.line);  // it may be dirty
    } else {
        left_core(core, lost.line);
    }
}

void MemorySystem::drop_from_core(Core& core, LineId line, std::uint8_t level) {
    const std::uint32_t in_l1 = core.l1.tags.find(line);
    if (in_l1 != TagArray::miss) lost_from_l1(core, core.l1.remove(in_l1), level);
    const std::uint32_t in_l2 = core.l2.find(line);
    if (in_l2 != TagArray::miss) core.l2.remove(in_l2);
    left_core(core, line);
}

[[gnu::always_inline]] inline void MemorySystem::left_core(Core& core, LineId line) {
    LineState& state = directory_[line];
    state.sharers.erase(core.id, directory_.pool());
    if (state.owner_plus1 == plus1(core.id)) state.owner_plus1 = nobody;
}

void MemorySystem::bring_background(Core& core, Background::Line& line) {
    core.background.came(line, fill_l1(core, line.id));
}

void MemorySystem::discard_from_l1(Core& core, LineId line) {
    const std::uint32_t slot = core.l1.tags.find(line);
    if (slot == TagArray::miss) return;
    const L1Cache::Lost lost = core.l1.remove(slot);
    if ((lost.state & watched) != 0) lost_watches_.push_back({core.id, line});
    // What the transaction started from is in L2 or beyond.
    if (core.l2.find(line) == TagArray::miss) left_core(core, line);
}

}  // namespace abortscope::model
