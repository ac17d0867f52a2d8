// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/counters/self_test.hpp"
#include "profiler/host/recorded_host.hpp"

namespace abortscope {
namespace {

/// What a check looks at.
struct Evidence {
    const HostDescription& host;
    const native::RtmProbe& probe;
    const RtmVerdict& rtm;
    const CounterPlan& plan;

    bool privileged() const { return host.process.cap_perfmon || host.process.cap_sys_admin; }
};

struct Judgement {
    FindingState state;
    std::string value;
    std::string remedy{};
};

using enum FindingState;

std::string yes_no(bool value) {
    return value ? "yes" : "no";
}

Judgement judge_rtm_bit(const Evidence& seen) {
    if (seen.host.cpu.rtm) return {fine, "yes"};
    return {problem, "no", seen.rtm.remedy};
}

Judgement judge_hle(const Evidence& seen) {
    return {fine, yes_no(seen.host.cpu.hle) + "; abortscope does not use it"};
}

Judgement judge_always_abort(const Evidence& seen) {
    if (!seen.host.cpu.rtm_always_abort) return {fine, "no"};
    return {problem, "yes: the microcode makes every transaction abort", seen.rtm.remedy};
}

Judgement judge_force_abort(const Evidence& seen) {
    if (!seen.host.cpu.tsx_force_abort) return {fine, "no"};
    if (seen.host.cpu.rtm_always_abort) return {fine, "yes, and without effect here"};
    return {note, "yes: a fourth counter makes every transaction abort",
            "none needed: a pass uses three counters (--allow-force-abort lifts this)"};
}

Judgement judge_tsxldtrk(const Evidence& seen) {
    return {fine, yes_no(seen.host.cpu.tsxldtrk)};
}

Judgement judge_tsx_option(const Evidence& seen) {
    const KernelFacts& kernel = seen.host.kernel;
    std::string value = "not on the boot line";
    if (kernel.tsx_option) {
        value = fmt::format("tsx={} on the boot line", *kernel.tsx_option);
    } else if (kernel.tsx_default) {
        value += fmt::format("; this kernel's default is tsx={}", *kernel.tsx_default);
    }
    const CpuModel* known = seen.host.cpu.known;
    if (known == nullptr || known->rtm != RtmHistory::boot_option) {
        return {fine, value + "; without effect on this CPU"};
    }
    if (seen.rtm.state == RtmState::turned_off_by_kernel) return {problem, value, seen.rtm.remedy};
    return {fine, value};
}

Judgement judge_taa(const Evidence& seen) {
    const auto& taa = seen.host.kernel.tsx_async_abort;
    if (!taa) return {unknown, "this kernel does not report it"};
    if (taa->starts_with("Vulnerable")) {
        return {note, *taa, "install current microcode and boot with tsx_async_abort=full"};
    }
    return {fine, *taa};
}

Judgement judge_microcode(const Evidence& seen) {
    if (seen.host.cpu.microcode.empty()) return {unknown, "not shown by this kernel"};
    return {fine, seen.host.cpu.microcode};
}

Judgement judge_hypervisor(const Evidence& seen) {
    if (!seen.host.cpu.hypervisor) return {fine, "none"};
    return {note, seen.host.cpu.hypervisor_signature,
            "for counts that a guest's PMU cannot give, measure on the host"};
}

Judgement judge_probe(const Evidence& seen) {
    const native::RtmProbe& probe = seen.probe;
    if (probe.attempts == 0) {
        return {seen.host.cpu.rtm ? unknown : problem, "not tried: CPUID does not advertise RTM",
                seen.rtm.remedy};
    }
    if (!probe.executes) return {problem, "XBEGIN raised SIGILL", seen.rtm.remedy};
    const std::string value =
        fmt::format("{} of {} empty transactions committed", probe.commits, probe.attempts);
    if (probe.commits == 0) return {problem, value, seen.rtm.remedy};
    return {fine, value};
}

Judgement judge_pmu(const Evidence& seen) {
    const PmuFacts* pmu = seen.host.core_pmu();
    if (pmu != nullptr) {
        return {fine, fmt::format("{}, {} of {} general counters usable", pmu->name,
                                  seen.plan.usable_counters, seen.plan.general_counters)};
    }
    return {problem, "the kernel offers no PMU of this CPU's cores",
            seen.host.cpu.hypervisor
                ? "ask for a virtual PMU (QEMU: -cpu host,pmu=on), or measure on the host"
                : "boot a kernel that knows this CPU (dmesg | grep -i 'performance events')"};
}

Judgement judge_in_tx(const Evidence& seen) {
    const PmuFacts* pmu = seen.host.core_pmu();
    if (pmu != nullptr && pmu->format_in_tx && pmu->format_in_tx_cp) return {fine, "offered"};
    return {seen.rtm.works() ? note : fine, "not offered: no cycles_t, cycles_ct",
            seen.rtm.works() ? "use a kernel and a (virtual) PMU that offer in_tx" : ""};
}

Judgement judge_paranoid(const Evidence& seen) {
    const auto& paranoid = seen.host.kernel.perf_event_paranoid;
    constexpr const char* lower = "run as root: sysctl kernel.perf_event_paranoid=1";
    if (!paranoid) {
        return {problem, "no such file: this kernel has no perf_event_open",
                "use a kernel with CONFIG_PERF_EVENTS"};
    }
    const std::string value = std::to_string(*paranoid);
    if (seen.privileged() || *paranoid <= 1) return {fine, value};
    if (*paranoid == 2) return {note, value + ": user mode only without CAP_PERFMON", lower};
    return {problem, value + ": nothing without CAP_PERFMON", lower};
}

Judgement judge_cap_perfmon(const Evidence& seen) {
    if (seen.host.process.cap_perfmon) return {fine, "yes"};
    if (seen.host.process.cap_sys_admin) return {fine, "no, but CAP_SYS_ADMIN"};
    const bool needed = seen.host.kernel.perf_event_paranoid.value_or(2) > 1;
    return {needed ? note : fine, "no",
            needed ? "run as root: setcap cap_perfmon+ep on abortscope, or lower "
                     "perf_event_paranoid"
                   : ""};
}

Judgement judge_seccomp(const Evidence& seen) {
    const auto& process = seen.host.process;
    const std::string place = process.container ? ", in a container" : "";
    if (!process.seccomp) return {unknown, "not shown by this kernel" + place};
    if (*process.seccomp == 0) return {fine, "none" + place};
    return {note, "a filter is active" + place,
            "if counters do not open: --cap-add PERFMON, or a profile that allows "
            "perf_event_open"};
}

Judgement judge_watchdog(const Evidence& seen) {
    const auto& watchdog = seen.host.kernel.nmi_watchdog;
    if (!watchdog) return {fine, "none in this kernel"};
    if (!*watchdog) return {fine, "off"};
    return {note, "on: it holds the counter of cycles",
            "run as root: sysctl kernel.nmi_watchdog=0"};
}

Judgement judge_allow_force_abort(const Evidence& seen) {
    const PmuFacts* pmu = seen.host.core_pmu();
    if (pmu == nullptr || !pmu->allow_tsx_force_abort) return {fine, "no such setting here"};
    if (!*pmu->allow_tsx_force_abort) return {fine, "0: the kernel withholds counter 3"};
    return {seen.host.cpu.rtm_always_abort ? fine : note,
            "1: other profilers can turn RTM off by taking a fourth counter",
            seen.host.cpu.rtm_always_abort
                ? ""
                : "run as root: echo 0 > /sys/bus/event_source/devices/cpu/allow_tsx_force_abort"};
}

Judgement judge_elision(const Evidence& seen) {
    const auto& tunables = seen.host.process.elision_tunables;
    if (!tunables) return {fine, "not set"};
    return {note, *tunables,
            "unset GLIBC_TUNABLES: the C library elides pthread mutexes, and the tx counters "
            "include that"};
}

struct Check {
    std::string_view id;
    std::string_view title;
    Judgement (*judge)(const Evidence&);
};

/// In the order of the report: the CPU, the kernel's TSX settings, the counters, the process.
constexpr std::array<Check, 18> checks{{
    {"rtm", "CPUID RTM", judge_rtm_bit},
    {"hle", "CPUID HLE", judge_hle},
    {"rtm_always_abort", "CPUID RTM_ALWAYS_ABORT", judge_always_abort},
    {"tsx_force_abort", "CPUID TSX_FORCE_ABORT", judge_force_abort},
    {"tsxldtrk", "CPUID TSXLDTRK", judge_tsxldtrk},
    {"rtm_probe", "RTM probe", judge_probe},
    {"tsx_option", "kernel tsx=", judge_tsx_option},
    {"tsx_async_abort", "TSX async abort", judge_taa},
    {"microcode", "microcode", judge_microcode},
    {"hypervisor", "hypervisor", judge_hypervisor},
    {"pmu", "PMU", judge_pmu},
    {"in_tx", "PMU format in_tx", judge_in_tx},
    {"perf_event_paranoid", "perf_event_paranoid", judge_paranoid},
    {"cap_perfmon", "CAP_PERFMON", judge_cap_perfmon},
    {"seccomp", "seccomp", judge_seccomp},
    {"nmi_watchdog", "NMI watchdog", judge_watchdog},
    {"allow_tsx_force_abort", "allow_tsx_force_abort", judge_allow_force_abort},
    {"glibc_elision", "glibc elision tunables", judge_elision},
}};

std::vector<Counter> every_counter() {
    std::vector<Counter> counters(counter_count);
    for (std::size_t i = 0; i < counter_count; ++i) counters[i] = counter_at(i);
    return counters;
}

}  // namespace

bool Diagnosis::can_measure_rtm() const {
    constexpr std::array<Counter, 4> needed{Counter::tx_start, Counter::tx_commit,
                                            Counter::tx_abort, Counter::tx_conflict};
    return rtm.works() && std::all_of(needed.begin(), needed.end(), [&](Counter counter) {
               return counters[index_of(counter)].counts;
           });
}

Diagnosis diagnose(const HostDescription& host, const native::RtmProbe& probe, CounterPlan plan) {
    Diagnosis diagnosis{host, probe, judge_rtm(host, probe), std::move(plan), {}, {}};
    const Evidence seen{diagnosis.host, diagnosis.probe, diagnosis.rtm, diagnosis.plan};
    for (const Check& check : checks) {
        Judgement judgement = check.judge(seen);
        diagnosis.findings.push_back({check.id, check.title, judgement.state,
                                      std::move(judgement.value), std::move(judgement.remedy)});
    }
    for (const Counter counter : every_counter()) {
        const std::string& reason = diagnosis.plan.absent_reasons[index_of(counter)];
        diagnosis.counters.push_back({counter, reason.empty(), reason});
    }
    return diagnosis;
}

Diagnosis examine_host() {
    return diagnose(describe_host(), native::rtm_probe(), tested_plan(every_counter()));
}

Diagnosis examine_recorded_host(const std::filesystem::path& root) {
    const RecordedHost recorded = read_recorded_host(root);
    ReplayedPerf perf = recorded.kernel();
    const RtmVerdict rtm = judge_rtm(recorded.description, recorded.probe);
    return diagnose(recorded.description, recorded.probe,
                    tested_plan(every_counter(), recorded.description, rtm, {}, perf,
                                [&] { return recorded.self_test_work(); }));
}

}  // namespace abortscope
