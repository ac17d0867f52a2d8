// SPDX-License-Identifier: Apache-2.0
//
// Every counter and event of a CPU in one list, and for this CPU whether it opens (acceptance case
// A15: not "cannot set up transaction events", but which, where and why not).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/counters/microarch.hpp"
#include "profiler/counters/perf_system.hpp"
#include "profiler/host/host_description.hpp"

namespace abortscope {

struct ListedEvent {
    std::string counter;   ///< `tx_start`; empty for events that no counter stands for
    std::string event;     ///< Intel's name, or perf's for the kernel's own
    std::string libpfm;    ///< libpfm4's name with its PMU; empty if it does not know the event
    std::string encoding;  ///< "0x1c9"
    std::string counters;  ///< "0-3", "2", "any", "fixed", "none"
    bool precise = false;  ///< can be sampled precisely (PEBS)
    std::string pmu;       ///< "cpu"; empty where it was not asked
    std::optional<bool> opens;  ///< empty where it was not tried: another CPU's
    std::string reason;         ///< the errno in words, if it does not open
    std::string caveat;
};

/// The table of another CPU: nothing is opened.
std::vector<ListedEvent> events_of_cpu(const Microarch& cpu);

/// This CPU's events and the kernel's own, each opened once and closed again. Where no table is
/// known the counters stand in the list with that as their reason.
std::vector<ListedEvent> events_of_host(const HostDescription& host, PerfSystem& perf);

}  // namespace abortscope
