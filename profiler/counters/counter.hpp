// SPDX-License-Identifier: Apache-2.0
//
// The logical counters: what is counted, by meaning, whoever counts it.
//
// A counter here is a column of the rows, spelled as in the CSV. Which event of which PMU stands
// for it on this CPU is event_table.hpp's business; the model fills the same counters from exact
// event counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace abortscope {

enum class Counter : std::uint8_t {
    tx_start,           ///< outermost RTM regions begun (RTM_RETIRED.START; nested ones not)
    tx_commit,          ///< of which committed
    tx_abort,           ///< of which aborted; tx_start = tx_commit + tx_abort but for open ends
    tx_conflict,        ///< aborts signalled for a data conflict (TX_MEM.ABORT_CONFLICT)
    tx_capacity,        ///< aborts signalled for capacity, where reads and writes are not split
    tx_capacity_read,   ///< … of the read set (Ice Lake and later)
    tx_capacity_write,  ///< … of the write set
    abort_mem,          ///< aborts by memory events: conflict, capacity (…ABORTED_MEM)
    abort_timer,        ///< aborts by uncommon conditions: the TSX watchdog (…ABORTED_TIMER)
    abort_unfriendly,   ///< aborts by an instruction that RTM does not support
    abort_memtype,      ///< aborts by memory that is not write-back
    abort_events,       ///< aborts by none of these four: interrupts, faults
    cycles,             ///< core clock cycles
    cycles_t,           ///< … inside transactions, whether they commit or not
    cycles_ct,          ///< … inside transactions that commit
    task_clock_ns,      ///< CPU time of the threads
    context_switches,
    cpu_migrations,
    page_faults,
};

inline constexpr std::size_t counter_count = 19;

/// Spelled as in the CSV, in the order of the columns.
inline constexpr std::array<std::string_view, counter_count> counter_names{
    "tx_start",         "tx_commit",         "tx_abort",       "tx_conflict", "tx_capacity",
    "tx_capacity_read", "tx_capacity_write", "abort_mem",      "abort_timer", "abort_unfriendly",
    "abort_memtype",    "abort_events",      "cycles",         "cycles_t",    "cycles_ct",
    "task_clock_ns",    "context_switches",  "cpu_migrations", "page_faults"};

constexpr std::size_t index_of(Counter counter) {
    return static_cast<std::size_t>(counter);
}
constexpr Counter counter_at(std::size_t index) {
    return static_cast<Counter>(index);
}
constexpr std::string_view name_of(Counter counter) {
    return counter_names[index_of(counter)];
}

/// The kernel counts these itself: no PMU and, in user mode, no privilege is needed.
constexpr bool is_software(Counter counter) {
    return counter >= Counter::task_clock_ns;
}

/// The counter of this name; dashes are as good as underscores (`tx-start`).
constexpr std::optional<Counter> counter_named(std::string_view name) {
    for (std::size_t i = 0; i < counter_count; ++i) {
        const std::string_view candidate = counter_names[i];
        bool same = candidate.size() == name.size();
        for (std::size_t c = 0; same && c < name.size(); ++c) {
            same = candidate[c] == (name[c] == '-' ? '_' : name[c]);
        }
        if (same) return counter_at(i);
    }
    return std::nullopt;
}

/// Where a number comes from.
enum class Provenance : std::uint8_t {
    hw,        ///< a counter of the processor or the kernel, over the whole time
    scaled,    ///< the same, extrapolated: it ran for part of the time only
    software,  ///< counted by our code, from the abort statuses
    model,     ///< an event count of the simulated machine
    absent,    ///< not measured; there is a reason, and never a zero in its place
};

inline constexpr std::array<std::string_view, 5> provenance_names{"hw", "scaled", "software",
                                                                  "model", "absent"};

constexpr std::string_view name_of(Provenance provenance) {
    return provenance_names[static_cast<std::size_t>(provenance)];
}

/// One counter's value over one phase. `value` is set exactly if `provenance` is not absent.
struct Reading {
    std::optional<std::uint64_t> value;
    Provenance provenance = Provenance::absent;
    double running_pct = 0;     ///< part of the time that the counter ran; 100 but for scaled
    std::string absent_reason;  ///< why there is no value: one line a person can act on

    static Reading of(std::uint64_t value, Provenance provenance) {
        return {value, provenance, 100, {}};
    }
    static Reading missing(std::string reason) {
        return {std::nullopt, Provenance::absent, 0, std::move(reason)};
    }
};

/// A reading of every counter, indexed by `index_of`.
using Readings = std::array<Reading, counter_count>;

}  // namespace abortscope
