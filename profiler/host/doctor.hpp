// SPDX-License-Identifier: Apache-2.0
//
// The examination of a host: can RTM be measured here, and if not, what stands in the way?
//
// A diagnosis is a truth table (advertised, executes, commits), one finding for each thing that
// has ever stood in somebody's way, each with a state and at most one remedy, and the counters.
// It judges what describe_host, the RTM probe and the tested plan have found; it does nothing
// itself, so that a made-up host is examined like this one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machines/native/rtm_probe.hpp"
#include "profiler/counters/counter_plan.hpp"
#include "profiler/host/host_description.hpp"
#include "profiler/host/rtm_verdict.hpp"

namespace abortscope {

enum class FindingState : std::uint8_t {
    fine,
    note,     ///< does not stand in the way, but bends what is measured
    problem,  ///< stands in the way
    unknown,  ///< could not be found out
};

inline constexpr std::array<std::string_view, 4> finding_state_names{"fine", "note", "problem",
                                                                     "unknown"};

constexpr std::string_view name_of(FindingState state) {
    return finding_state_names[static_cast<std::size_t>(state)];
}

struct Finding {
    std::string_view id;     ///< "perf_event_paranoid": the key in the JSON
    std::string_view title;  ///< "perf_event_paranoid"
    FindingState state = FindingState::unknown;
    std::string value;   ///< what was found, in a few words
    std::string remedy;  ///< one line; empty where there is nothing to do
};

struct CounterFinding {
    Counter counter = Counter::tx_start;
    bool counts = false;  ///< opens, and counted in the self-test
    std::string reason;   ///< why not
};

struct Diagnosis {
    HostDescription host;
    native::RtmProbe probe;
    RtmVerdict rtm;
    CounterPlan plan;
    std::vector<Finding> findings;
    std::vector<CounterFinding> counters;

    /// RTM commits, and tx_start, tx_commit, tx_abort and tx_conflict count. Where not, `doctor`
    /// ends with exit code 3.
    bool can_measure_rtm() const;
};

/// Judges a host. `plan` is its tested plan for all counters.
Diagnosis diagnose(const HostDescription& host, const native::RtmProbe& probe, CounterPlan plan);

/// Examines this computer.
Diagnosis examine_host();

/// Examines a recording (recorded_host.hpp). Throws IoError if it cannot be read.
Diagnosis examine_recorded_host(const std::filesystem::path& root);

}  // namespace abortscope
