// SPDX-License-Identifier: Apache-2.0
//
// futex(2), private to the process.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

#include "primitives/machine.hpp"

namespace abortscope::native {

inline FutexResult futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                              std::uint64_t timeout_ns = forever_ns) noexcept {
    timespec limit{};
    timespec* timeout = nullptr;
    if (timeout_ns != forever_ns) {
        limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000u);
        limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000u);
        timeout = &limit;
    }
    if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0) == 0) {
        return FutexResult::woken;
    }
    switch (errno) {
        case EAGAIN:
            return FutexResult::value_changed;
        case EINTR:
            return FutexResult::interrupted;
        case ETIMEDOUT:
            return FutexResult::timed_out;
        default:
            return FutexResult::woken;  // the caller tests its condition again
    }
}

/// Wakes at most `count` waiters, first come first; returns how many.
inline std::uint32_t futex_wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
    // The kernel reads a signed int, and a negative one wakes a single waiter.
    count = std::min(count, std::uint32_t{INT_MAX});
    const long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
    return woken > 0 ? static_cast<std::uint32_t>(woken) : 0;
}

}  // namespace abortscope::native
