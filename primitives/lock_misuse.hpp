// SPDX-License-Identifier: Apache-2.0
//
// What happens when a program unlocks a lock that nobody holds: it is told, and nothing else
// happens. Executing the unlock would corrupt the lock; XEND outside a transaction is #GP.
#pragma once

#include <atomic>
#include <cstdio>

namespace abortscope {

/// Called with the address of the lock, by the thread that misused it, outside any transaction.
using MisuseHandler = void (*)(const void* lock);

inline void print_misuse(const void* lock) {
    std::fprintf(stderr, "abortscope: unlock of lock %p, which nobody holds, was not executed\n",
                 lock);
}

namespace detail {
inline std::atomic<MisuseHandler> misuse_handler{&print_misuse};
}

/// Replaces the handler of the process, at first print_misuse; returns the one before.
inline MisuseHandler set_misuse_handler(MisuseHandler handler) {
    return detail::misuse_handler.exchange(handler);
}

inline void report_misuse(const void* lock) {
    detail::misuse_handler.load()(lock);
}

}  // namespace abortscope
