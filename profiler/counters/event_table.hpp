// SPDX-License-Identifier: Apache-2.0
//
// The TSX events of every micro-architecture: encoding, counters, spellings, caveats.
//
// The table is ours and answers alone; libpfm4 only cross-checks it (libpfm.hpp), since Debian's
// 4.13 knows neither Emerald nor Granite Rapids and spells some umasks differently from Intel.
//
// Sources: github.com/intel/perfmon (HSW 36, HSX 29, BDW 30, BDX 23, SKL 59, SKX 1.37, CLX 1.25,
// ICL 1.24, RKL 1.04, ICX 1.30, TGL 1.19, SPR 1.39, EMR 1.24, GNR 1.20) for the events; SDM vol. 3B
// "Intel TSX and performance monitoring" and Linux arch/x86/events/intel/core.c for in_tx.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/counters/counter.hpp"
#include "profiler/counters/microarch.hpp"

namespace abortscope {

/// attr.config bits that restrict an event to transactions. The kernel ORs them in only where the
/// CPU has RTM or HLE, and otherwise *silently counts everything*: ask for `format/in_tx` first.
inline constexpr std::uint64_t in_tx = std::uint64_t{1} << 32;
/// Rolled back on abort, so that only committed transactions count; general counter 2 only.
inline constexpr std::uint64_t in_tx_checkpointed = std::uint64_t{1} << 33;

struct Event {
    /// The counter that it stands for, spelled as in the CSV, or a name of its own kind
    /// (`tx_nest_overflow`); empty for events that nothing here is computed from.
    std::string_view logical;
    std::string_view intel;     ///< perfmon's spelling
    std::string_view libpfm;    ///< libpfm4's spelling, without the PMU
    std::uint64_t config;       ///< attr.config of a raw event: umask << 8 | code, in_tx bits
    std::uint8_t groups;        ///< EventGroups that list it
    std::uint8_t precise;       ///< EventGroups where it can be sampled precisely (PEBS)
    std::uint8_t low_counters;  ///< EventGroups where only general counters 0-3 can count it
    std::string_view caveat;

    bool in(EventGroup group) const { return (groups & group) != 0; }
    bool needs_in_tx() const { return (config & (in_tx | in_tx_checkpointed)) != 0; }
};

/// Every row, in the order that they are shown in.
std::span<const Event> event_table();

/// The rows of one group.
std::vector<const Event*> events_of(EventGroup group);

/// The event that stands for a counter on these CPUs; null if they have none.
const Event* event_for(Counter counter, EventGroup group);

/// The general counters that can count the event, as a mask of `general_counters` bits.
std::uint32_t counters_for(const Event& event, EventGroup group, unsigned general_counters);

}  // namespace abortscope
