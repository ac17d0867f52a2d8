// SPDX-License-Identifier: Apache-2.0
//
// The Machine that is this computer: everything inlines to the bare instruction or system call.
//
// begin() may run only where rtm_available() is true; ElidedLock asks once.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <new>
#include <string_view>

#include "machines/native/futex.hpp"
#include "machines/native/rtm_instructions.hpp"
#include "machines/native/rtm_probe.hpp"
#include "primitives/machine.hpp"

namespace abortscope::native {

/// What a thread is to the machine. Set by NativeTeam; a thread of the user's own is worker 0 of
/// itself, with a log of its own.
struct ThisThread {
    unsigned worker = 0;
    AbortLog* team_log = nullptr;  ///< null: own_log
    AbortLog own_log;
};

// Constant-initialised, so that locks read it without asking whether it has been made.
namespace detail {
inline constinit thread_local ThisThread this_thread;
}

inline ThisThread& this_thread() noexcept {
    return detail::this_thread;
}

struct NativeMachine {
    static constexpr std::string_view name = "native";

    template <class T>
    using Atomic = std::atomic<T>;
    template <class T>
    using Cell = T;

    static void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }

    static bool rtm_available() noexcept { return rtm_commits(); }
    static rtm::Status begin(const void* /*lock*/ = nullptr) noexcept { return xbegin(); }
    static void commit() noexcept { xend(); }
    template <std::uint8_t Code>
    static void abort() noexcept {
        xabort<Code>();
    }
    static bool in_transaction() noexcept { return rtm_available() && xtest(); }

    static void pause() noexcept {
#if defined(__x86_64__)
        asm volatile("pause" ::: "memory");
#elif defined(__aarch64__)
        asm volatile("yield" ::: "memory");
#endif
    }
    static void compute(std::uint64_t /*cycles*/) noexcept {}
    /// `length` multiplications, each of which needs the one before.
    static void multiply_chain(std::uint64_t length) noexcept {
        std::uint64_t value = 1;
        for (; length > 0; --length) {
            value *= 0x9e3779b97f4a7c15u;
            asm volatile("" : "+r"(value));  // or the compiler would do without the loop
        }
    }
    /// So many of the processor's cycles as take `duration_ns` now: measured once per process.
    static std::uint64_t cycles_of_ns(std::uint64_t duration_ns);
    static void prefetch(const void* address) noexcept {
        __builtin_prefetch(address);
    }

    static std::uint64_t now_ns() noexcept {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
               static_cast<std::uint64_t>(now.tv_nsec);
    }
    static void sleep_for_ns(std::uint64_t duration_ns) noexcept {
        timespec left{static_cast<time_t>(duration_ns / 1'000'000'000u),
                      static_cast<long>(duration_ns % 1'000'000'000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
        }
    }

    template <class T, class Predicate>
    static T spin_until(const std::atomic<T>& word, Predicate done,
                        std::uint32_t max_pauses = unbounded) {
        for (std::uint32_t pauses = 0;; ++pauses) {
            const T value = word.load(std::memory_order_acquire);
            if (done(value) || (pauses == max_pauses && max_pauses != unbounded)) return value;
            pause();
        }
    }

    static FutexResult futex_wait(Atomic<std::uint32_t>& word, std::uint32_t expected,
                                  std::uint64_t timeout_ns = forever_ns) noexcept {
        return native::futex_wait(word, expected, timeout_ns);
    }
    static std::uint32_t futex_wake(Atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
        return native::futex_wake(word, count);
    }
    static void yield() noexcept {
        sched_yield();
    }
    static void system_call(SystemCall kind);

    static void* allocate(std::size_t size, std::size_t alignment) {
        return ::operator new (size, std::align_val_t{alignment});
    }
    static void deallocate(void* place, std::size_t size, std::size_t alignment) noexcept {
        (void)size;
        ::operator delete (place, std::align_val_t{alignment});
    }
    static void describe(const void* /*place*/, std::size_t /*size*/,
                         std::string_view /*object*/) noexcept {}

    static void site(const char* /*label*/) noexcept {}
    static void lock_step(LockStep /*step*/, const void* /*lock*/) noexcept {}

    static unsigned this_worker() noexcept {
        return this_thread().worker;
    }
    static AbortLog& log() noexcept {
        ThisThread& self = this_thread();
        return self.team_log != nullptr ? *self.team_log : self.own_log;
    }
};

static_assert(Machine<NativeMachine>);

}  // namespace abortscope::native
