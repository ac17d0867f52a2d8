// SPDX-License-Identifier: Apache-2.0
#include "machines/model/preset.hpp"

#include <algorithm>
#include <vector>

namespace abortscope::model {
namespace {

constexpr std::uint32_t many = 1'000'000'000;

// Where the numbers come from; docs/model.md has the sources in full.
constexpr std::string_view maker = "maker";
constexpr std::string_view memory = "from memory";
constexpr std::string_view assumed = "assumed";
constexpr std::string_view dice = "Dice et al. 2015";
constexpr std::string_view debian = "Debian's CONFIG_HZ";
constexpr std::string_view sched_pipe = "perf bench sched pipe";
constexpr std::string_view intel_idle = "Linux intel_idle";
constexpr std::string_view cfs = "Linux CFS";
constexpr std::string_view chosen = "ours, tested against 0";

// name, member, minimum, maximum, power of two, help, source of the member's own value: Haswell's
constexpr PresetField fields[] = {
    {"sockets", &Preset::sockets, 1, 8, false, "sockets", maker},
    {"cores_per_socket", &Preset::cores_per_socket, 1, 128, false, "cores per socket", maker},
    {"threads_per_core", &Preset::threads_per_core, 1, 4, false, "hardware threads per core",
     maker},
    {"frequency_mhz", &Preset::frequency_mhz, 100, 10'000, false, "clock, MHz", maker},
    {"l1_sets", &Preset::l1_sets, 1, 1024, true, "L1 data cache sets of 64-byte lines, per core",
     maker},
    {"l1_ways", &Preset::l1_ways, 1, 32, false, "L1 data cache ways", maker},
    {"l2_sets", &Preset::l2_sets, 1, 65'536, true, "L2 sets, per core", maker},
    {"l2_ways", &Preset::l2_ways, 1, 32, false, "L2 ways", maker},
    {"l3_sets", &Preset::l3_sets, 1, 1u << 22, false, "L3 sets, per socket", maker},
    {"l3_ways", &Preset::l3_ways, 1, 32, false, "L3 ways", maker},
    {"l3_inclusive", &Preset::l3_inclusive, 0, 1, false, "1: L3 includes L1 and L2", maker},
    {"l1_hit_cycles", &Preset::l1_hit_cycles, 1, 100, false, "load that hits L1", memory},
    {"store_cycles", &Preset::store_cycles, 1, 100, false, "store that hits L1", assumed},
    {"store_visible_pct", &Preset::store_visible_pct, 0, 100, false,
     "share of a store miss that its worker waits for, %", assumed},
    {"l2_hit_cycles", &Preset::l2_hit_cycles, 1, 1000, false, "L2 hit", memory},
    {"l3_hit_cycles", &Preset::l3_hit_cycles, 1, 1000, false, "L3 hit", memory},
    {"memory_cycles", &Preset::memory_cycles, 1, 10'000, false, "memory access", memory},
    {"transfer_cycles", &Preset::transfer_cycles, 1, 10'000, false,
     "line from another core of the socket", memory},
    {"transfer_snoop_pct", &Preset::transfer_snoop_pct, 0, 100, false,
     "share of a transfer that passes before the line's owner loses it", assumed},
    {"upgrade_cycles", &Preset::upgrade_cycles, 1, 10'000, false, "shared line becomes writable",
     memory},
    {"remote_cycles", &Preset::remote_cycles, 1, 10'000, false, "line from another socket", memory},
    {"locked_cycles", &Preset::locked_cycles, 0, 1000, false,
     "extra for a LOCK-prefixed access or full fence", memory},
    {"line_busy_cycles", &Preset::line_busy_cycles, 0, 1000, false,
     "how long a line serves one clean read", assumed},
    {"pause_cycles", &Preset::pause_cycles, 1, 1000, false, "PAUSE", memory},
    {"smt_slowdown_pct", &Preset::smt_slowdown_pct, 0, 300, false,
     "extra time while a sibling thread executes, %", assumed},
    {"load_linked", &Preset::load_linked, 0, 1, false, "1: compare-and-swap is a load-linked pair",
     maker},
    {"far_atomics", &Preset::far_atomics, 0, 1, false,
     "1: an atomic on a line that its core does not own runs at the line's home", maker},
    {"far_atomic_busy_cycles", &Preset::far_atomic_busy_cycles, 0, 1000, false,
     "how long a line's home serves one such atomic", assumed},
    {"rtm", &Preset::rtm, 0, 1, false, "1: RTM works", maker},
    {"rtm_begin_cycles", &Preset::rtm_begin_cycles, 0, 10'000, false, "XBEGIN", memory},
    {"rtm_commit_cycles", &Preset::rtm_commit_cycles, 0, 10'000, false, "XEND", memory},
    {"rtm_nested_cycles", &Preset::rtm_nested_cycles, 0, 10'000, false,
     "an XBEGIN or XEND inside a transaction, which only moves the nest count", assumed},
    {"rtm_abort_cycles", &Preset::rtm_abort_cycles, 0, 100'000, false, "abort", memory},
    {"rtm_max_nest", &Preset::rtm_max_nest, 1, 255, false, "MAX_RTM_NEST_COUNT", memory},
    {"rtm_read_tracking", &Preset::rtm_read_tracking, 2, 3, false,
     "cache level whose eviction of a read line aborts", dice},
    {"background_lines", &Preset::background_lines, 0, 1024, false,
     "lines of stack, globals and page tables that share L1", assumed},
    {"background_period", &Preset::background_period, 1, 100'000, false,
     "accesses between two uses of such a line", assumed},
    {"jitter_cycles", &Preset::jitter_cycles, 0, 10'000, false,
     "bound of the noise at begin and abort", assumed},
    {"timer_hz", &Preset::timer_hz, 1, 1'000'000, false, "mean interrupts per second and CPU",
     debian},
    {"interrupt_ns", &Preset::interrupt_ns, 0, many, false, "an interrupt", assumed},
    {"system_call_ns", &Preset::system_call_ns, 0, many, false, "a system call, in and out",
     assumed},
    {"page_fault_ns", &Preset::page_fault_ns, 0, many, false, "first touch of a page", assumed},
    {"context_switch_ns", &Preset::context_switch_ns, 0, many, false, "switch to another task",
     assumed},
    {"futex_wait_ns", &Preset::futex_wait_ns, 0, many, false, "FUTEX_WAIT beyond the system call",
     assumed},
    {"futex_wake_ns", &Preset::futex_wake_ns, 0, many, false, "FUTEX_WAKE beyond the system call",
     assumed},
    {"wake_task_ns", &Preset::wake_task_ns, 0, many, false, "per task woken, paid by the waker",
     assumed},
    {"wake_latency_ns", &Preset::wake_latency_ns, 0, many, false,
     "until a CPU that is awake runs a woken task", sched_pipe},
    {"idle1_exit_ns", &Preset::idle1_exit_ns, 0, many, false, "leaving the lightest idle state",
     intel_idle},
    {"idle2_exit_ns", &Preset::idle2_exit_ns, 0, many, false, "leaving the next deeper one",
     intel_idle},
    {"idle2_residency_ns", &Preset::idle2_residency_ns, 0, many, false,
     "last idle time from which it is entered", intel_idle},
    {"idle3_exit_ns", &Preset::idle3_exit_ns, 0, many, false, "leaving the deepest one",
     intel_idle},
    {"idle3_residency_ns", &Preset::idle3_residency_ns, 0, many, false,
     "last idle time from which it is entered", intel_idle},
    {"migration_ns", &Preset::migration_ns, 0, many, false, "moving a task to another CPU",
     assumed},
    {"sched_latency_ns", &Preset::sched_latency_ns, 1, many, false,
     "time in which every ready task runs once", cfs},
    {"slice_ns", &Preset::slice_ns, 1, many, false, "shortest time slice", cfs},
    {"sleeper_credit_ns", &Preset::sleeper_credit_ns, 0, many, false,
     "how far behind a woken task may be placed", cfs},
    {"wakeup_granularity_ns", &Preset::wakeup_granularity_ns, 0, many, false,
     "how far behind a woken task preempts", cfs},
    {"allocation_cycles", &Preset::allocation_cycles, 0, 10'000, false, "malloc or free", assumed},
    {"start_stagger_ns", &Preset::start_stagger_ns, 0, many, false,
     "workers of a phase start within this time", assumed},
    {"lookahead_cycles", &Preset::lookahead_cycles, 0, 10'000, false,
     "how far a worker runs ahead over begins and hits in L1", chosen},
    {"shared_lookahead_cycles", &Preset::shared_lookahead_cycles, 0, 10'000, false,
     "the same outside transactions in lines that cores take from each other", chosen},
};

/// A preset as what differs from the one that it derives from.
struct Setting {
    std::uint32_t Preset::*member;
    std::uint32_t value;
    std::string_view source;
};
struct Derivation {
    std::string_view name;
    std::string_view from;  ///< an earlier row; empty: the members' own values
    std::string_view description;
    std::vector<Setting> settings;
};

constexpr auto watched_by_l2 = static_cast<std::uint32_t>(ReadTracking::l2);

const std::vector<Derivation>& derivations() {
    using P = Preset;
    static const std::vector<Derivation> rows{
        {"haswell", "", "Intel Core i7-4770 (Haswell): 4 cores, 8 threads, 3.4 GHz", {}},
        {"broadwell-ep",
         "haswell",
         "Intel Xeon E5-2660 v4 (Broadwell-EP): 2 sockets, 28 cores, 2.0 GHz",
         {{&P::sockets, 2, maker},
          {&P::cores_per_socket, 14, maker},
          {&P::frequency_mhz, 2000, maker},
          {&P::l3_sets, 14 * 2048, maker},
          {&P::l3_ways, 20, maker},
          {&P::l3_hit_cycles, 50, memory},
          {&P::memory_cycles, 180, memory},
          {&P::transfer_cycles, 130, memory},
          {&P::upgrade_cycles, 90, memory},
          {&P::remote_cycles, 300, memory}}},
        {"skylake-sp",
         "haswell",
         "Intel Xeon Gold 6148 (Skylake-SP): 2 sockets, 40 cores, 2.4 GHz",
         {{&P::sockets, 2, maker},
          {&P::cores_per_socket, 20, maker},
          {&P::frequency_mhz, 2400, maker},
          {&P::l2_sets, 1024, maker},
          {&P::l2_ways, 16, maker},
          {&P::l2_hit_cycles, 14, memory},
          {&P::l3_sets, 20 * 2048, maker},
          {&P::l3_ways, 11, maker},
          {&P::l3_inclusive, 0, maker},
          {&P::l3_hit_cycles, 70, memory},
          {&P::memory_cycles, 200, memory},
          {&P::transfer_cycles, 120, memory},
          {&P::upgrade_cycles, 100, memory},
          {&P::remote_cycles, 330, memory},
          {&P::pause_cycles, 140, memory},
          {&P::rtm_read_tracking, watched_by_l2, assumed}}},
        {"cascadelake-sp",
         "skylake-sp",
         "Intel Xeon Gold 6248 (Cascade Lake): 2 sockets, 40 cores, 2.5 GHz",
         {{&P::frequency_mhz, 2500, maker}}},
        {"icelake-sp",
         "skylake-sp",
         "Intel Xeon Platinum 8380 (Ice Lake-SP): 2 sockets, 80 cores, 2.3 GHz",
         {{&P::cores_per_socket, 40, maker},
          {&P::frequency_mhz, 2300, maker},
          {&P::l1_ways, 12, maker},
          {&P::l1_hit_cycles, 5, memory},
          {&P::l2_ways, 20, maker},
          {&P::l3_sets, 40 * 2048, maker},
          {&P::l3_ways, 12, maker},
          {&P::l3_hit_cycles, 72, memory},
          {&P::transfer_cycles, 125, memory},
          {&P::upgrade_cycles, 105, memory},
          {&P::remote_cycles, 265, memory}}},
        {"sapphire-rapids",
         "icelake-sp",
         "Intel Xeon Platinum 8480+ (Sapphire Rapids): 2 sockets, 112 cores, 2.0 GHz",
         {{&P::cores_per_socket, 56, maker},
          {&P::frequency_mhz, 2000, maker},
          {&P::l2_sets, 2048, maker},
          {&P::l2_ways, 16, maker},
          {&P::l2_hit_cycles, 15, memory},
          {&P::l3_sets, 56 * 2048, maker},
          {&P::l3_ways, 15, maker},
          {&P::l3_hit_cycles, 110, memory},
          {&P::memory_cycles, 240, memory},
          {&P::transfer_cycles, 140, memory},
          {&P::upgrade_cycles, 120, memory},
          {&P::remote_cycles, 270, memory}}},
        {"sandybridge-2s",
         "haswell",
         "Intel Xeon E5-2600 (Sandy Bridge): 2 sockets, 16 cores, 32 threads, no RTM",
         {{&P::sockets, 2, maker},
          {&P::cores_per_socket, 8, maker},
          {&P::frequency_mhz, 2600, assumed},
          {&P::l3_sets, 8 * 2048, maker},
          {&P::l3_ways, 20, maker},
          {&P::l3_hit_cycles, 40, memory},
          {&P::memory_cycles, 210, memory},
          {&P::transfer_cycles, 110, memory},
          {&P::upgrade_cycles, 80, memory},
          {&P::remote_cycles, 300, memory},
          {&P::rtm, 0, maker}}},
        {"thunderx2",
         "haswell",
         "Cavium ThunderX2 CN9975 (Arm, LSE atomics): 2 sockets, 56 cores, 2.0 GHz, no RTM",
         {{&P::sockets, 2, maker},
          {&P::cores_per_socket, 28, maker},
          {&P::threads_per_core, 4, maker},
          {&P::frequency_mhz, 2000, maker},
          {&P::l3_sets, 28 * 2048, maker},
          {&P::l3_ways, 8, maker},
          {&P::l3_inclusive, 0, maker},
          {&P::l2_hit_cycles, 10, memory},
          {&P::l3_hit_cycles, 60, memory},
          {&P::memory_cycles, 200, memory},
          {&P::transfer_cycles, 110, memory},
          {&P::upgrade_cycles, 80, memory},
          {&P::remote_cycles, 400, memory},
          {&P::locked_cycles, 8, memory},
          {&P::pause_cycles, 2, memory},
          {&P::far_atomics, 1, assumed},
          {&P::rtm, 0, maker}}},
        {"thunderx2-llsc",
         "thunderx2",
         "Cavium ThunderX2, compare-and-swap by load-exclusive and store-exclusive",
         {{&P::far_atomics, 0, assumed}, {&P::load_linked, 1, maker}}},
        {"zen4",
         "haswell",
         "AMD EPYC 9004 (Zen 4): 4 core complexes of 8 cores, 3.7 GHz, no RTM",
         {{&P::sockets, 4, assumed},
          {&P::cores_per_socket, 8, maker},
          {&P::frequency_mhz, 3700, maker},
          {&P::l2_sets, 2048, maker},
          {&P::l2_ways, 8, maker},
          {&P::l2_hit_cycles, 14, memory},
          {&P::l3_sets, 32'768, maker},
          {&P::l3_inclusive, 0, maker},
          {&P::l3_hit_cycles, 50, memory},
          {&P::memory_cycles, 400, memory},
          {&P::transfer_cycles, 75, memory},
          {&P::upgrade_cycles, 60, memory},
          {&P::remote_cycles, 400, memory},
          {&P::locked_cycles, 8, memory},
          {&P::pause_cycles, 40, memory},
          {&P::rtm, 0, maker}}},
    };
    return rows;
}

const Derivation& derivation_of(std::string_view name) {
    return *std::find_if(derivations().begin(), derivations().end(),
                         [&](const Derivation& row) { return row.name == name; });
}

Preset derived(const Derivation& row) {
    Preset preset = row.from.empty() ? Preset() : derived(derivation_of(row.from));
    preset.name = row.name;
    preset.built_in = row.name;
    preset.description = row.description;
    for (const Setting& setting : row.settings) preset.*setting.member = setting.value;
    return preset;
}

}  // namespace

std::span<const PresetField> preset_fields() {
    return fields;
}

std::span<const Preset> presets() {
    static const std::vector<Preset> all = [] {
        std::vector<Preset> made;
        for (const Derivation& row : derivations()) made.push_back(derived(row));
        return made;
    }();
    return all;
}

const Preset* find_preset(std::string_view name) {
    for (const Preset& preset : presets()) {
        if (preset.name == name) return &preset;
    }
    return nullptr;
}

std::string_view source_of(const Preset& preset, const PresetField& field) {
    const Preset& origin = *find_preset(preset.built_in);
    if (preset.*field.member != origin.*field.member) return "your setting";
    for (std::string_view name = origin.name; !name.empty();) {
        const Derivation& row = derivation_of(name);
        for (const Setting& setting : row.settings) {
            if (setting.member == field.member) return setting.source;
        }
        name = row.from;
    }
    return field.source;
}

}  // namespace abortscope::model
