// SPDX-License-Identifier: Apache-2.0
#include "machines/native/rtm_probe.hpp"

#include <csetjmp>
#include <csignal>
#include <optional>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "machines/native/rtm_instructions.hpp"
#include "machines/native/rtm_pretence.hpp"

namespace abortscope::native {
namespace {

constexpr std::uint32_t probe_attempts = 1000;

std::optional<RtmCpuid> pretended_cpuid;

sigjmp_buf illegal_instruction;

void on_illegal_instruction(int) {
    siglongjmp(illegal_instruction, 1);
}

}  // namespace

RtmCpuid rtm_cpuid() noexcept {
    if (pretended_cpuid) return *pretended_cpuid;
    RtmCpuid answer;
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
        answer.advertised = (ebx >> 11 & 1u) != 0;
        answer.always_abort = (edx >> 11 & 1u) != 0;
    }
#endif
    return answer;
}

namespace detail {

// Not inlined: the probe must be in memory, not in a register that siglongjmp brings back, when
// XBEGIN raises SIGILL.
[[gnu::noinline]] void try_transactions(RtmProbe& probe) noexcept {
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

bool find_out_rtm_commits() noexcept {
    const bool commits = rtm_probe().commits_work();
    rtm_commits_known.store(commits ? 1 : 0, std::memory_order_relaxed);
    return commits;
}

}  // namespace detail

RtmProbe probe_rtm(RtmCpuid cpuid) {
    RtmProbe probe;
    probe.advertised = cpuid.advertised;
    probe.always_abort = cpuid.always_abort;
    if (!probe.advertised) return probe;

    struct sigaction guard {};
    struct sigaction previous {};
    guard.sa_handler = on_illegal_instruction;
    sigemptyset(&guard.sa_mask);
    sigaction(SIGILL, &guard, &previous);
    if (sigsetjmp(illegal_instruction, 1) == 0) detail::try_transactions(probe);
    sigaction(SIGILL, &previous, nullptr);
    return probe;
}

const RtmProbe& rtm_probe() {
    static const RtmProbe probe = probe_rtm(rtm_cpuid());
    return probe;
}

void pretend_rtm_cpuid(std::optional<RtmCpuid> cpuid) {
    pretended_cpuid = cpuid;
}

void pretend_rtm_commits(std::optional<bool> commits) {
    const signed char known = !commits ? -1 : *commits ? 1 : 0;
    detail::rtm_commits_known.store(known, std::memory_order_relaxed);
}

}  // namespace abortscope::native
