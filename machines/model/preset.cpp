// SPDX-License-Identifier: Apache-2.0
#include "machines/model/preset.hpp"

#include <array>
#include <limits>

namespace abortscope::model {
namespace {

constexpr std::uint32_t many = 1'000'000'000;

// name, member, minimum, maximum, power of two, help
constexpr PresetField fields[] = {
    {"sockets", &Preset::sockets, 1, 8, false, "sockets"},
    {"cores_per_socket", &Preset::cores_per_socket, 1, 128, false, "cores per socket"},
    {"threads_per_core", &Preset::threads_per_core, 1, 4, false, "hardware threads per core"},
    {"frequency_mhz", &Preset::frequency_mhz, 100, 10'000, false, "clock, MHz"},
    {"l1_sets", &Preset::l1_sets, 1, 1024, true, "L1 data cache sets of 64-byte lines, per core"},
    {"l1_ways", &Preset::l1_ways, 1, 32, false, "L1 data cache ways"},
    {"l2_sets", &Preset::l2_sets, 1, 65'536, true, "L2 sets, per core"},
    {"l2_ways", &Preset::l2_ways, 1, 32, false, "L2 ways"},
    {"l3_sets", &Preset::l3_sets, 1, 1u << 22, false, "L3 sets, per socket"},
    {"l3_ways", &Preset::l3_ways, 1, 32, false, "L3 ways"},
    {"l3_inclusive", &Preset::l3_inclusive, 0, 1, false, "1: L3 includes L1 and L2"},
    {"l1_hit_cycles", &Preset::l1_hit_cycles, 1, 100, false, "load that hits L1"},
    {"store_cycles", &Preset::store_cycles, 1, 100, false, "store that hits L1"},
    {"store_visible_pct", &Preset::store_visible_pct, 0, 100, false,
     "share of a store miss that its worker waits for, %"},
    {"l2_hit_cycles", &Preset::l2_hit_cycles, 1, 1000, false, "L2 hit"},
    {"l3_hit_cycles", &Preset::l3_hit_cycles, 1, 1000, false, "L3 hit"},
    {"memory_cycles", &Preset::memory_cycles, 1, 10'000, false, "memory access"},
    {"transfer_cycles", &Preset::transfer_cycles, 1, 10'000, false,
     "line from another core of the socket"},
    {"transfer_snoop_pct", &Preset::transfer_snoop_pct, 0, 100, false,
     "share of a transfer that passes before the line's owner loses it"},
    {"upgrade_cycles", &Preset::upgrade_cycles, 1, 10'000, false, "shared line becomes writable"},
    {"remote_cycles", &Preset::remote_cycles, 1, 10'000, false, "line from another socket"},
    {"locked_cycles", &Preset::locked_cycles, 0, 1000, false,
     "extra for a LOCK-prefixed access or full fence"},
    {"line_busy_cycles", &Preset::line_busy_cycles, 0, 1000, false,
     "how long a line serves one clean read"},
    {"pause_cycles", &Preset::pause_cycles, 1, 1000, false, "PAUSE"},
    {"smt_slowdown_pct", &Preset::smt_slowdown_pct, 0, 300, false,
     "extra time while a sibling thread executes, %"},
    {"load_linked", &Preset::load_linked, 0, 1, false, "1: compare-and-swap is a load-linked pair"},
    {"far_atomics", &Preset::far_atomics, 0, 1, false,
     "1: an atomic on a line that its core does not own runs at the line's home"},
    {"far_atomic_busy_cycles", &Preset::far_atomic_busy_cycles, 0, 1000, false,
     "how long a line's home serves one such atomic"},
    {"rtm", &Preset::rtm, 0, 1, false, "1: RTM works"},
    {"rtm_begin_cycles", &Preset::rtm_begin_cycles, 0, 10'000, false, "XBEGIN"},
    {"rtm_commit_cycles", &Preset::rtm_commit_cycles, 0, 10'000, false, "XEND"},
    {"rtm_nested_cycles", &Preset::rtm_nested_cycles, 0, 10'000, false,
     "an XBEGIN or XEND inside a transaction, which only moves the nest count"},
    {"rtm_abort_cycles", &Preset::rtm_abort_cycles, 0, 100'000, false, "abort"},
    {"rtm_max_nest", &Preset::rtm_max_nest, 1, 255, false, "MAX_RTM_NEST_COUNT"},
    {"rtm_read_tracking", &Preset::rtm_read_tracking, 2, 3, false,
     "cache level whose eviction of a read line aborts"},
    {"background_lines", &Preset::background_lines, 0, 1024, false,
     "lines of stack, globals and page tables that share L1"},
    {"background_period", &Preset::background_period, 1, 100'000, false,
     "accesses between two uses of such a line"},
    {"jitter_cycles", &Preset::jitter_cycles, 0, 10'000, false,
     "bound of the noise at begin and abort"},
    {"timer_hz", &Preset::timer_hz, 1, 1'000'000, false, "mean interrupts per second and CPU"},
    {"interrupt_ns", &Preset::interrupt_ns, 0, many, false, "an interrupt"},
    {"system_call_ns", &Preset::system_call_ns, 0, many, false, "a system call, in and out"},
    {"page_fault_ns", &Preset::page_fault_ns, 0, many, false, "first touch of a page"},
    {"context_switch_ns", &Preset::context_switch_ns, 0, many, false, "switch to another task"},
    {"futex_wait_ns", &Preset::futex_wait_ns, 0, many, false, "FUTEX_WAIT beyond the system call"},
    {"futex_wake_ns", &Preset::futex_wake_ns, 0, many, false, "FUTEX_WAKE beyond the system call"},
    {"wake_task_ns", &Preset::wake_task_ns, 0, many, false, "per task woken, paid by the waker"},
    {"wake_latency_ns", &Preset::wake_latency_ns, 0, many, false,
     "until a CPU that is awake runs a woken task"},
    {"idle1_exit_ns", &Preset::idle1_exit_ns, 0, many, false, "leaving the lightest idle state"},
    {"idle2_exit_ns", &Preset::idle2_exit_ns, 0, many, false, "leaving the next deeper one"},
    {"idle2_residency_ns", &Preset::idle2_residency_ns, 0, many, false,
     "last idle time from which it is entered"},
    {"idle3_exit_ns", &Preset::idle3_exit_ns, 0, many, false, "leaving the deepest one"},
    {"idle3_residency_ns", &Preset::idle3_residency_ns, 0, many, false,
     "last idle time from which it is entered"},
    {"migration_ns", &Preset::migration_ns, 0, many, false, "moving a task to another CPU"},
    {"sched_latency_ns", &Preset::sched_latency_ns, 1, many, false,
     "time in which every ready task runs once"},
    {"slice_ns", &Preset::slice_ns, 1, many, false, "shortest time slice"},
    {"sleeper_credit_ns", &Preset::sleeper_credit_ns, 0, many, false,
     "how far behind a woken task may be placed"},
    {"wakeup_granularity_ns", &Preset::wakeup_granularity_ns, 0, many, false,
     "how far behind a woken task preempts"},
    {"allocation_cycles", &Preset::allocation_cycles, 0, 10'000, false, "malloc or free"},
    {"start_stagger_ns", &Preset::start_stagger_ns, 0, many, false,
     "workers of a phase start within this time"},
    {"lookahead_cycles", &Preset::lookahead_cycles, 0, 10'000, false,
     "how far a worker runs ahead over unnoticeable hits"},
};

Preset haswell() {
    Preset preset;
    preset.name = "haswell";
    preset.description = "Intel Core i7-4770 (Haswell): 4 cores, 8 threads, 3.4 GHz";
    return preset;
}

Preset broadwell_ep() {
    Preset preset = haswell();
    preset.name = "broadwell-ep";
    preset.description = "Intel Xeon E5-2660 v4 (Broadwell-EP): 2 sockets, 28 cores, 2.0 GHz";
    preset.sockets = 2;
    preset.cores_per_socket = 14;
    preset.frequency_mhz = 2000;
    preset.l3_sets = 14 * 2048;
    preset.l3_ways = 20;
    preset.l3_hit_cycles = 50;
    preset.memory_cycles = 180;
    preset.transfer_cycles = 130;
    preset.upgrade_cycles = 90;
    preset.remote_cycles = 300;
    return preset;
}

Preset skylake_sp() {
    Preset preset = haswell();
    preset.name = "skylake-sp";
    preset.description = "Intel Xeon Gold 6148 (Skylake-SP): 2 sockets, 40 cores, 2.4 GHz";
    preset.sockets = 2;
    preset.cores_per_socket = 20;
    preset.frequency_mhz = 2400;
    preset.l2_sets = 1024;
    preset.l2_ways = 16;
    preset.l2_hit_cycles = 14;
    preset.l3_sets = 20 * 2048;
    preset.l3_ways = 11;
    preset.l3_inclusive = 0;
    preset.l3_hit_cycles = 70;
    preset.memory_cycles = 200;
    preset.transfer_cycles = 120;
    preset.upgrade_cycles = 100;
    preset.remote_cycles = 330;
    preset.pause_cycles = 140;
    preset.rtm_read_tracking = static_cast<std::uint32_t>(ReadTracking::l2);
    return preset;
}

Preset cascadelake_sp() {
    Preset preset = skylake_sp();
    preset.name = "cascadelake-sp";
    preset.description = "Intel Xeon Gold 6248 (Cascade Lake): 2 sockets, 40 cores, 2.5 GHz";
    preset.frequency_mhz = 2500;
    return preset;
}

Preset icelake_sp() {
    Preset preset = skylake_sp();
    preset.name = "icelake-sp";
    preset.description = "Intel Xeon Platinum 8380 (Ice Lake-SP): 2 sockets, 80 cores, 2.3 GHz";
    preset.cores_per_socket = 40;
    preset.frequency_mhz = 2300;
    preset.l1_ways = 12;
    preset.l1_hit_cycles = 5;
    preset.l2_ways = 20;
    preset.l3_sets = 40 * 2048;
    preset.l3_ways = 12;
    preset.l3_hit_cycles = 72;
    preset.transfer_cycles = 125;
    preset.upgrade_cycles = 105;
    preset.remote_cycles = 265;
    return preset;
}

Preset sapphire_rapids() {
    Preset preset = icelake_sp();
    preset.name = "sapphire-rapids";
    preset.description =
        "Intel Xeon Platinum 8480+ (Sapphire Rapids): 2 sockets, 112 cores, 2.0 GHz";
    preset.cores_per_socket = 56;
    preset.frequency_mhz = 2000;
    preset.l2_sets = 2048;
    preset.l2_ways = 16;
    preset.l2_hit_cycles = 15;
    preset.l3_sets = 56 * 2048;
    preset.l3_ways = 15;
    preset.l3_hit_cycles = 110;
    preset.memory_cycles = 240;
    preset.transfer_cycles = 140;
    preset.upgrade_cycles = 120;
    preset.remote_cycles = 270;
    return preset;
}

Preset sandybridge_2s() {
    Preset preset = haswell();
    preset.name = "sandybridge-2s";
    preset.description =
        "Intel Xeon E5-2600 (Sandy Bridge): 2 sockets, 16 cores, 32 threads, no RTM";
    preset.sockets = 2;
    preset.cores_per_socket = 8;
    preset.frequency_mhz = 2600;
    preset.l3_sets = 8 * 2048;
    preset.l3_ways = 20;
    preset.l3_hit_cycles = 40;
    preset.memory_cycles = 210;
    preset.transfer_cycles = 110;
    preset.upgrade_cycles = 80;
    preset.remote_cycles = 300;
    preset.rtm = 0;
    return preset;
}

Preset thunderx2() {
    Preset preset = haswell();
    preset.name = "thunderx2";
    preset.description =
        "Cavium ThunderX2 CN9975 (Arm, LSE atomics): 2 sockets, 56 cores, 2.0 GHz, no RTM";
    preset.sockets = 2;
    preset.cores_per_socket = 28;
    preset.threads_per_core = 4;
    preset.frequency_mhz = 2000;
    preset.l3_sets = 28 * 2048;
    preset.l3_ways = 8;
    preset.l3_inclusive = 0;
    preset.l2_hit_cycles = 10;
    preset.l3_hit_cycles = 60;
    preset.memory_cycles = 200;
    preset.transfer_cycles = 110;
    preset.upgrade_cycles = 80;
    preset.remote_cycles = 400;
    preset.locked_cycles = 8;
    preset.pause_cycles = 2;
    preset.far_atomics = 1;
    preset.rtm = 0;
    return preset;
}

Preset thunderx2_llsc() {
    Preset preset = thunderx2();
    preset.name = "thunderx2-llsc";
    preset.description = "Cavium ThunderX2, compare-and-swap by load-exclusive and store-exclusive";
    preset.far_atomics = 0;
    preset.load_linked = 1;
    return preset;
}

Preset zen4() {
    Preset preset = haswell();
    preset.name = "zen4";
    preset.description = "AMD EPYC 9004 (Zen 4): 4 core complexes of 8 cores, 3.7 GHz, no RTM";
    preset.sockets = 4;
    preset.cores_per_socket = 8;
    preset.frequency_mhz = 3700;
    preset.l2_sets = 2048;
    preset.l2_ways = 8;
    preset.l2_hit_cycles = 14;
    preset.l3_sets = 32'768;
    preset.l3_inclusive = 0;
    preset.l3_hit_cycles = 50;
    preset.memory_cycles = 400;
    preset.transfer_cycles = 75;
    preset.upgrade_cycles = 60;
    preset.remote_cycles = 400;
    preset.locked_cycles = 8;
    preset.pause_cycles = 40;
    preset.rtm = 0;
    return preset;
}

}  // namespace

std::span<const PresetField> preset_fields() {
    return fields;
}

std::span<const Preset> presets() {
    static const std::array all{
        haswell(),         broadwell_ep(),   skylake_sp(), cascadelake_sp(), icelake_sp(),
        sapphire_rapids(), sandybridge_2s(), thunderx2(),  thunderx2_llsc(), zen4()};
    return all;
}

const Preset* find_preset(std::string_view name) {
    for (const Preset& preset : presets()) {
        if (preset.name == name) return &preset;
    }
    return nullptr;
}

}  // namespace abortscope::model
