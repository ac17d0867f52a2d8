// SPDX-License-Identifier: Apache-2.0
//
// The made-up hosts of tests/hosts, by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/host/recorded_host.hpp"
#include "profiler/host/rtm_verdict.hpp"

namespace abortscope::tests {

inline std::filesystem::path host_root(const std::string& name) {
    return std::filesystem::path(ABORTSCOPE_TESTS_DIR) / "hosts" / name;
}

inline RecordedHost host(const std::string& name) {
    return read_recorded_host(host_root(name));
}

inline RtmVerdict verdict(const RecordedHost& host) {
    return judge_rtm(host.description, host.probe);
}

inline std::vector<Counter> all_counters() {
    std::vector<Counter> counters;
    for (std::size_t i = 0; i < counter_count; ++i) counters.push_back(counter_at(i));
    return counters;
}

}  // namespace abortscope::tests
