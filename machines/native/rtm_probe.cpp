// SPDX-License-Identifier: Apache-2.0
#include "machines/native/rtm_probe.hpp"

#include <csetjmp>
#include <csignal>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "machines/native/rtm_instructions.hpp"

namespace abortscope::native {
namespace {

constexpr std::uint32_t probe_attempts = 1000;

sigjmp_buf illegal_instruction;

void on_illegal_instruction(int) {
    siglongjmp(illegal_instruction, 1);
}

void read_cpuid(RtmProbe& probe) {
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return;
    probe.advertised = (ebx >> 11 & 1u) != 0;
    probe.always_abort = (edx >> 11 & 1u) != 0;
#else
    (void)probe;
#endif
}

void try_transactions(RtmProbe& probe) {
    for (std::uint32_t i = 0; i < probe_attempts; ++i) {
        ++probe.attempts;
        const rtm::Status status = xbegin();
        if (status.is_started()) {
            xend();
            ++probe.commits;
        } else {
            probe.last_status = status.word();
        }
        probe.executes = true;
    }
}

RtmProbe run_probe() {
    RtmProbe probe;
    read_cpuid(probe);
    if (!probe.advertised) return probe;

    struct sigaction guard {};
    struct sigaction previous {};
    guard.sa_handler = on_illegal_instruction;
    sigemptyset(&guard.sa_mask);
    sigaction(SIGILL, &guard, &previous);
    if (sigsetjmp(illegal_instruction, 1) == 0) {
        try_transactions(probe);
    }
    sigaction(SIGILL, &previous, nullptr);
    return probe;
}

}  // namespace

const RtmProbe& rtm_probe() {
    static const RtmProbe probe = run_probe();
    return probe;
}

bool detail::probe_rtm_commits() noexcept {
    const bool commits = rtm_probe().commits_work();
    detail::rtm_commits.store(commits ? 1 : 0, std::memory_order_relaxed);
    return commits;
}

}  // namespace abortscope::native
