// SPDX-License-Identifier: Apache-2.0
//
// A whole host from files: description, what its RTM did, and what its perf_event_open does.
//
// Beside the files that host_description.hpp names, a recording has
//
//     cpuid          CPUID leaves, as `cpuid -1 -r` prints them; missing: no x86 CPU
//     rtm_probe      `attempts 1000`, `commits 998`, `executes yes`, `last_status 0x0`;
//                    missing: nothing was tried
//     perf           replayed_perf.hpp's properties; missing: everything opens and counts
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "machines/native/rtm_probe.hpp"
#include "profiler/counters/replayed_perf.hpp"
#include "profiler/counters/self_test.hpp"
#include "profiler/host/host_description.hpp"

namespace abortscope {

struct RecordedHost {
    HostDescription description;
    native::RtmProbe probe;
    PerfBehaviour perf;

    /// Its kernel: a self-test's loop counts there what it would on the host.
    ReplayedPerf kernel() const;
    /// The loop's own count.
    KnownWork self_test_work() const;
};

/// Throws IoError if there is no such directory or a file in it makes no sense.
RecordedHost read_recorded_host(const std::filesystem::path& root);

}  // namespace abortscope
