// SPDX-License-Identifier: Apache-2.0
//
// From a counter's meaning to what the kernel is asked for on this host, or to the reason why
// nothing can be asked.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "profiler/counters/counter.hpp"
#include "profiler/counters/event_table.hpp"
#include "profiler/host/host_description.hpp"
#include "profiler/host/rtm_verdict.hpp"

namespace abortscope {

/// One event to open. `general_counters` is 0 for events that need none: the kernel's own, and
/// cycles where the CPU has a fixed counter for them.
struct EventRequest {
    Counter counter = Counter::tx_start;
    std::uint32_t type = 0;              ///< perf_event_attr.type
    std::uint64_t config = 0;            ///< perf_event_attr.config
    std::uint32_t general_counters = 0;  ///< mask of the counters that can count it
    bool user_only = false;  ///< leave the kernel out: all that an unprivileged user may
    std::string pmu;         ///< "cpu", "cpu_core", "software"
};

struct Unavailable {
    std::string reason;
};

/// General counters of one logical processor: CPUID's word, else the table's.
unsigned general_counters_of(const CpuFacts& cpu);

/// What to open for `counter`. Transactional counters want RTM to work: where it does not, the
/// PMU would accept the encoding and count zero for ever.
std::variant<EventRequest, Unavailable> request_for(Counter counter, const HostDescription& host,
                                                    const RtmVerdict& rtm);

/// The same for a row of the event table, whether or not RTM works: what `events` tries to open.
std::variant<EventRequest, Unavailable> request_for(const Event& event,
                                                    const HostDescription& host);

}  // namespace abortscope
