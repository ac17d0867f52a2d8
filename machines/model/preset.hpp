// SPDX-License-Identifier: Apache-2.0
//
// A preset: the numbers that make the simulated machine one computer rather than another.
//
// Every number is a member of `Preset` and a row of `preset_fields()`, so that listing, checking
// and reading a preset from a file are one loop. docs/model.md says where each value comes from,
// or that it is assumed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace abortscope::model {

/// Where a transaction's read lines may be: the innermost place whose loss aborts it.
enum class ReadTracking : std::uint32_t {
    l2 = 2,  ///< a snoop filter or L2 governs (non-inclusive L3: Skylake-SP and later)
    l3 = 3,  ///< the inclusive L3 governs (Haswell to Skylake client)
};

struct Preset {
    std::string name;
    std::string built_in = "haswell";  ///< the built-in preset that it is or derives from
    std::string description;

    // Shape
    std::uint32_t sockets = 1;
    std::uint32_t cores_per_socket = 4;
    std::uint32_t threads_per_core = 2;
    std::uint32_t frequency_mhz = 3400;

    // Caches; lines are 64 bytes everywhere
    std::uint32_t l1_sets = 64;
    std::uint32_t l1_ways = 8;
    std::uint32_t l2_sets = 512;
    std::uint32_t l2_ways = 8;
    std::uint32_t l3_sets = 8192;
    std::uint32_t l3_ways = 16;
    std::uint32_t l3_inclusive = 1;

    // Cost of an access, in cycles
    std::uint32_t l1_hit_cycles = 4;
    std::uint32_t store_cycles = 1;  ///< a store that hits: it leaves through the store buffer
    std::uint32_t store_visible_pct = 30;  ///< share of a store miss that its worker waits for
    std::uint32_t l2_hit_cycles = 12;
    std::uint32_t l3_hit_cycles = 36;
    std::uint32_t memory_cycles = 200;
    std::uint32_t transfer_cycles = 150;    ///< a dirty line from another core of the socket
    std::uint32_t transfer_snoop_pct = 25;  ///< share of a transfer before its owner loses the line
    std::uint32_t upgrade_cycles = 70;      ///< a shared line becomes writable
    std::uint32_t remote_cycles = 400;      ///< a line from another socket
    std::uint32_t locked_cycles = 18;       ///< on top, for a LOCK-prefixed access or a full fence
    std::uint32_t line_busy_cycles = 12;    ///< a line serves one clean read request in this time
    std::uint32_t pause_cycles = 10;
    std::uint32_t smt_slowdown_pct = 60;  ///< extra time for what a core executes while its
                                          ///< sibling thread executes too
    std::uint32_t load_linked = 0;        ///< 1: compare-and-swap is a load-linked pair
    std::uint32_t far_atomics = 0;  ///< 1: an atomic on a line of another core runs at its home
    std::uint32_t far_atomic_busy_cycles = 30;  ///< how long the home serves one such atomic

    // RTM
    std::uint32_t rtm = 1;
    std::uint32_t rtm_begin_cycles = 20;
    std::uint32_t rtm_commit_cycles = 25;
    std::uint32_t rtm_nested_cycles = 5;  ///< an inner XBEGIN or XEND: it only moves the nest count
    std::uint32_t rtm_abort_cycles = 160;
    std::uint32_t rtm_max_nest = 7;
    std::uint32_t rtm_read_tracking = static_cast<std::uint32_t>(ReadTracking::l3);
    std::uint32_t background_lines = 4;   ///< stack, globals, page tables: lines of no scenario
    std::uint32_t background_period = 4;  ///< one of them is touched every so many accesses
    std::uint32_t jitter_cycles = 16;     ///< bound of the seeded noise at begin and abort

    // Operating system
    std::uint32_t timer_hz = 250;  ///< mean rate of interrupts per CPU
    std::uint32_t interrupt_ns = 700;
    std::uint32_t system_call_ns = 70;
    std::uint32_t page_fault_ns = 500;
    std::uint32_t context_switch_ns = 500;
    std::uint32_t futex_wait_ns = 350;    ///< enqueueing, on top of the system call
    std::uint32_t futex_wake_ns = 120;    ///< looking for a waiter, on top of the system call
    std::uint32_t wake_task_ns = 400;     ///< for each task woken, paid by the waker
    std::uint32_t wake_latency_ns = 300;  ///< an idle CPU takes up a woken task
    // Idle states: a CPU enters the deepest one whose residency its last idle time reached.
    std::uint32_t idle1_exit_ns = 2'000;
    std::uint32_t idle2_exit_ns = 10'000;
    std::uint32_t idle2_residency_ns = 20'000;
    std::uint32_t idle3_exit_ns = 33'000;
    std::uint32_t idle3_residency_ns = 100'000;
    std::uint32_t migration_ns = 800;
    std::uint32_t sched_latency_ns = 24'000'000;      ///< in which every ready task runs once
    std::uint32_t slice_ns = 3'000'000;               ///< but a slice is no shorter than this
    std::uint32_t sleeper_credit_ns = 12'000'000;     ///< how far behind a woken task may be placed
    std::uint32_t wakeup_granularity_ns = 4'000'000;  ///< how far behind it must be to preempt
    std::uint32_t allocation_cycles = 20;             ///< malloc or free from a thread's own cache
    std::uint32_t start_stagger_ns = 2000;            ///< workers of a phase start within this time

    // The simulation itself
    std::uint32_t lookahead_cycles = 100;        ///< how far a worker runs ahead over hits
    std::uint32_t shared_lookahead_cycles = 10;  ///< in lines that are written and shared

    std::uint32_t cores() const { return sockets * cores_per_socket; }
    std::uint32_t hardware_threads() const { return cores() * threads_per_core; }
    std::uint64_t cycles_of_ns(std::uint64_t ns) const { return ns * frequency_mhz / 1000; }
    std::uint64_t ns_of_cycles(std::uint64_t cycles) const {
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(cycles) * 1000 /
                                          frequency_mhz);
    }
};

/// One number of a preset: what a file may set, within which bounds.
struct PresetField {
    std::string_view name;
    std::uint32_t Preset::*member;
    std::uint32_t minimum;
    std::uint32_t maximum;
    bool power_of_two;
    std::string_view help;
    std::string_view source;  ///< of the member's own value
};

std::span<const PresetField> preset_fields();

/// The built-in presets; the first is the default.
std::span<const Preset> presets();

/// Where a preset's number comes from: a publication, the maker, "from memory", "assumed"; "your
/// setting" where a file or +FIELD=N has changed it.
std::string_view source_of(const Preset& preset, const PresetField& field);

/// Null if there is none of that name.
const Preset* find_preset(std::string_view name);

}  // namespace abortscope::model
