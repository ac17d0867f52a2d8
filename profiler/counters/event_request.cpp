// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/event_request.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>

namespace abortscope {
namespace {

struct KernelEvent {
    Counter counter;
    std::uint64_t config;
};

constexpr std::array<KernelEvent, 4> kernel_events{{
    {Counter::task_clock_ns, PERF_COUNT_SW_TASK_CLOCK},
    {Counter::context_switches, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {Counter::cpu_migrations, PERF_COUNT_SW_CPU_MIGRATIONS},
    {Counter::page_faults, PERF_COUNT_SW_PAGE_FAULTS},
}};

std::string no_pmu(const HostDescription& host) {
    if (host.cpu.hypervisor) {
        return "this virtual machine has no virtual PMU: ask for one (QEMU: -cpu host,pmu=on), or "
               "measure on the host";
    }
    return "the kernel offers no PMU of this CPU's cores (dmesg | grep -i 'performance events')";
}

std::variant<EventRequest, Unavailable> kernel_request(Counter counter,
                                                       const HostDescription& host) {
    if (!host.kernel.perf_event_paranoid) {
        return Unavailable{"this kernel has no perf_event_open (CONFIG_PERF_EVENTS)"};
    }
    const auto* row =
        std::find_if(kernel_events.begin(), kernel_events.end(),
                     [&](const KernelEvent& event) { return event.counter == counter; });
    EventRequest request;
    request.counter = counter;
    request.type = PERF_TYPE_SOFTWARE;
    request.config = row->config;
    request.pmu = "software";
    return request;
}

/// On a hybrid CPU one number for cycles exists only if every thread stays on one kind of core.
bool runs_on_one_kind(const HostDescription& host, const PmuFacts& pmu) {
    if (!host.cpu.hybrid && host.pmu("cpu_atom") == nullptr) return true;
    return !host.process.allowed_cpus.empty() &&
           std::all_of(host.process.allowed_cpus.begin(), host.process.allowed_cpus.end(),
                       [&](unsigned cpu) {
                           return std::find(pmu.cpus.begin(), pmu.cpus.end(), cpu) !=
                                  pmu.cpus.end();
                       });
}

std::variant<EventRequest, Unavailable> cycles_request(const HostDescription& host) {
    const PmuFacts* pmu = host.core_pmu();
    if (pmu == nullptr) return Unavailable{no_pmu(host)};
    if (!runs_on_one_kind(host, *pmu)) {
        return Unavailable{
            "the cycles of a hybrid CPU's kinds of core do not add up to one number: keep the "
            "program on the cores of " +
            pmu->name + " (taskset)"};
    }
    EventRequest request;
    request.counter = Counter::cycles;
    request.type = PERF_TYPE_HARDWARE;
    request.config = PERF_COUNT_HW_CPU_CYCLES;
    request.pmu = pmu->name;
    // The NMI watchdog holds the fixed counter of cycles, and a small virtual PMU has none: then
    // they take a general one like any other event.
    const bool fixed = host.cpu.vendor != "GenuineIntel" ||
                       (host.cpu.fixed_counters >= 2 && !host.kernel.nmi_watchdog.value_or(false));
    if (!fixed) {
        request.general_counters = (1u << general_counters_of(host.cpu)) - 1;
    }
    return request;
}

}  // namespace

unsigned general_counters_of(const CpuFacts& cpu) {
    if (cpu.general_counters != 0) return std::min(cpu.general_counters, 16u);
    return cpu.microarch != nullptr ? cpu.microarch->general_counters : 0;
}

std::variant<EventRequest, Unavailable> request_for(const Event& event,
                                                    const HostDescription& host) {
    const PmuFacts* pmu = host.core_pmu();
    if (pmu == nullptr) return Unavailable{no_pmu(host)};
    if (event.needs_in_tx() && (!pmu->format_in_tx || ((event.config & in_tx_checkpointed) != 0 &&
                                                       !pmu->format_in_tx_cp))) {
        return Unavailable{fmt::format(
            "the kernel does not offer in_tx ({}/format/in_tx is missing): it would count all "
            "cycles and say nothing",
            pmu->name)};
    }
    EventRequest request;
    request.counter = counter_named(event.logical).value_or(Counter::tx_start);
    // A hybrid CPU has a raw type for each kind of core; elsewhere `cpu` is PERF_TYPE_RAW.
    request.type = pmu->type;
    request.config = event.config;
    request.pmu = pmu->name;
    if (host.cpu.microarch != nullptr) {
        request.general_counters =
            counters_for(event, host.cpu.microarch->events, general_counters_of(host.cpu));
    }
    return request;
}

std::variant<EventRequest, Unavailable> request_for(Counter counter, const HostDescription& host,
                                                    const RtmVerdict& rtm) {
    if (is_software(counter)) return kernel_request(counter, host);
    if (counter == Counter::cycles) return cycles_request(host);
    if (!rtm.works()) return Unavailable{"RTM does not work here: " + rtm.reason};
    const Microarch* cpu = host.cpu.microarch;
    if (cpu == nullptr) {
        if (host.cpu.vendor != "GenuineIntel") {
            return Unavailable{"only Intel's CPUs have events of transactions"};
        }
        return Unavailable{
            fmt::format("no TSX events are known for this CPU (family {}, model {:#x})",
                        host.cpu.family, host.cpu.model)};
    }
    const Event* event = event_for(counter, cpu->events);
    if (event == nullptr) {
        return Unavailable{fmt::format("{} has no event for it", cpu->title)};
    }
    auto answer = request_for(*event, host);
    if (const auto* request = std::get_if<EventRequest>(&answer);
        request != nullptr && request->general_counters == 0) {
        return Unavailable{
            fmt::format("none of the {} general counters of this (virtual) PMU can count it",
                        general_counters_of(host.cpu))};
    }
    return answer;
}

}  // namespace abortscope
