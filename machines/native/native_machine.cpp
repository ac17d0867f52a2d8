// SPDX-License-Identifier: Apache-2.0
#include "machines/native/native_machine.hpp"

#include <fcntl.h>

#include <algorithm>

namespace abortscope::native {

namespace {

/// The best of a few rounds: a round that was interrupted is longer, none is shorter.
std::uint64_t picoseconds_per_cycle() {
    constexpr std::uint64_t length = 100'000;
    constexpr std::uint64_t cycles = 3 * length;  // a 64-bit multiplication's latency
    std::uint64_t best_ns = forever_ns;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t start = NativeMachine::now_ns();
        NativeMachine::multiply_chain(length);
        best_ns = std::min(best_ns, NativeMachine::now_ns() - start);
    }
    return std::max<std::uint64_t>(best_ns * 1000 / cycles, 1);
}

}  // namespace

std::uint64_t NativeMachine::cycles_of_ns(std::uint64_t duration_ns) {
    static const std::uint64_t cycle_ps = picoseconds_per_cycle();
    return duration_ns * 1000 / cycle_ps;
}

void NativeMachine::system_call(SystemCall kind) {
    constexpr std::size_t page = 4096;
    switch (kind) {
        case SystemCall::null:
            (void)syscall(SYS_getppid);
            return;
        case SystemCall::map: {
            void* place =
                mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (place != MAP_FAILED) munmap(place, page);
            return;
        }
        case SystemCall::io: {
            static const int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
            (void)!write(sink, "x", 1);
            return;
        }
    }
}

}  // namespace abortscope::native
