// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/event_list.hpp"

#include <fmt/format.h>

#include <bit>
#include <variant>

#include "profiler/counters/event_request.hpp"
#include "profiler/counters/event_table.hpp"
#include "profiler/counters/libpfm.hpp"
#include "profiler/counters/open_error.hpp"
#include "profiler/counters/self_test.hpp"

namespace abortscope {
namespace {

/// "0-3" of a mask; "any" if it holds every counter.
std::string counters_text(std::uint32_t mask, unsigned general_counters) {
    if (mask == 0) return "none";
    if (mask == (1u << general_counters) - 1) return "any";
    const int first = std::countr_zero(mask);
    const int last = 31 - std::countl_zero(mask);
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string libpfm_name(const Microarch& cpu, const Event& event) {
    if (libpfm_config(cpu.libpfm, event.libpfm) != event.config) return {};
    return fmt::format("{}::{}", cpu.libpfm, event.libpfm);
}

ListedEvent listed(const Event& event, const Microarch& cpu, unsigned general_counters) {
    ListedEvent row;
    row.counter = event.logical;
    row.event = event.intel;
    row.libpfm = libpfm_name(cpu, event);
    row.encoding = fmt::format("{:#x}", event.config);
    row.counters =
        event.logical == name_of(Counter::cycles)
            ? "fixed"
            : counters_text(counters_for(event, cpu.events, general_counters), general_counters);
    row.precise = (event.precise & cpu.events) != 0;
    row.caveat = event.caveat;
    return row;
}

void try_event(ListedEvent& row, const std::variant<EventRequest, Unavailable>& answer,
               const HostDescription& host, PerfSystem& perf) {
    row.opens = false;
    if (const auto* missing = std::get_if<Unavailable>(&answer)) {
        row.reason = missing->reason;
        return;
    }
    EventRequest request = std::get<EventRequest>(answer);
    row.pmu = request.pmu;
    const int error = try_to_open(request, perf);
    row.opens = error == 0;
    if (error != 0) row.reason = explain_open_error(error, host);
    if (error == 0 && request.user_only) {
        row.caveat += row.caveat.empty() ? "user mode only" : "; user mode only";
    }
}

/// A counter that is not in the CPU's table: the kernel's own, or one that this CPU lacks.
ListedEvent counter_row(Counter counter, const HostDescription& host, PerfSystem& perf) {
    ListedEvent row;
    row.counter = name_of(counter);
    row.counters = "none";
    const RtmVerdict no_table{RtmState::works, {}, {}};
    const auto answer = request_for(counter, host, no_table);
    if (const auto* request = std::get_if<EventRequest>(&answer)) {
        row.event = is_software(counter) ? "the kernel's own" : "the kernel's generic event";
        row.encoding = fmt::format("{:#x}", request->config);
        if (!is_software(counter)) row.counters = "any";
    }
    try_event(row, answer, host, perf);
    return row;
}

}  // namespace

std::vector<ListedEvent> events_of_cpu(const Microarch& cpu) {
    std::vector<ListedEvent> rows;
    for (const Event* event : events_of(cpu.events)) {
        rows.push_back(listed(*event, cpu, cpu.general_counters));
    }
    return rows;
}

std::vector<ListedEvent> events_of_host(const HostDescription& host, PerfSystem& perf) {
    std::vector<ListedEvent> rows;
    const Microarch* cpu = host.cpu.microarch;
    if (cpu != nullptr) {
        for (const Event* event : events_of(cpu->events)) {
            ListedEvent row = listed(*event, *cpu, general_counters_of(host.cpu));
            const bool is_cycles = event->logical == name_of(Counter::cycles);
            const RtmVerdict whatever{RtmState::works, {}, {}};
            try_event(row,
                      is_cycles ? request_for(Counter::cycles, host, whatever)
                                : request_for(*event, host),
                      host, perf);
            rows.push_back(std::move(row));
        }
    }
    for (std::size_t i = 0; i < counter_count; ++i) {
        const Counter counter = counter_at(i);
        const bool in_table = cpu != nullptr && event_for(counter, cpu->events) != nullptr;
        if (!in_table) rows.push_back(counter_row(counter, host, perf));
    }
    return rows;
}

}  // namespace abortscope
