// SPDX-License-Identifier: Apache-2.0
//
// What the kernel accounts to every thread without perf_event_open: the way out for a container
// whose seccomp filter forbids it. getrusage(2) and the thread's CPU-time clock; no privilege.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <ctime>
#include <optional>

#include "profiler/counters/counter.hpp"

namespace abortscope {

struct ThreadUsage {
    std::uint64_t task_clock_ns = 0;
    std::uint64_t context_switches = 0;
    std::uint64_t page_faults = 0;
    std::uint64_t involuntary_switches = 0;

    static ThreadUsage of(const rusage& usage, std::uint64_t cpu_time_ns) {
        return {cpu_time_ns, static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw),
                static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt),
                static_cast<std::uint64_t>(usage.ru_nivcsw)};
    }

    /// Of the calling thread, since it began.
    static ThreadUsage now() noexcept {
        rusage usage{};
        getrusage(RUSAGE_THREAD, &usage);
        timespec clock{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &clock);
        return of(usage, static_cast<std::uint64_t>(clock.tv_sec) * 1'000'000'000u +
                             static_cast<std::uint64_t>(clock.tv_nsec));
    }

    /// Nothing for counters that only perf_event_open has.
    std::optional<std::uint64_t> value(Counter counter) const {
        if (counter == Counter::task_clock_ns) return task_clock_ns;
        if (counter == Counter::context_switches) return context_switches;
        if (counter == Counter::page_faults) return page_faults;
        return std::nullopt;
    }
};

}  // namespace abortscope
