// SPDX-License-Identifier: Apache-2.0
//
// Does RTM work here? CPUID first, then a guarded probe: no RTM instruction runs before CPUID has
// advertised RTM, and elision is used only after one of many empty transactions has committed
// (microcode and kernels turn RTM off in ways that leave the instructions executable).
#pragma once

#include <atomic>
#include <cstdint>

namespace abortscope::native {

/// What CPUID says about RTM.
struct RtmCpuid {
    bool advertised = false;    ///< CPUID.(7,0):EBX[11]
    bool always_abort = false;  ///< CPUID.(7,0):EDX[11], RTM_ALWAYS_ABORT
};

struct RtmProbe {
    bool advertised = false;        ///< as RtmCpuid
    bool always_abort = false;      ///< as RtmCpuid
    bool executes = false;          ///< XBEGIN did not raise SIGILL
    std::uint32_t attempts = 0;     ///< empty transactions tried
    std::uint32_t commits = 0;      ///< of which committed
    std::uint32_t last_status = 0;  ///< status of the last abort

    bool commits_work() const { return commits > 0; }
};

RtmCpuid rtm_cpuid() noexcept;

/// Probes anew. While it runs, SIGILL of the whole process is the probe's.
RtmProbe probe_rtm(RtmCpuid cpuid);

/// Runs the probe once per process and remembers the answer. Thread-safe.
const RtmProbe& rtm_probe();

namespace detail {

/// Empty transactions, counted into `probe`; without a guard.
void try_transactions(RtmProbe& probe) noexcept;

/// -1 until it is known. A plain load is all that a lock's fast path pays for asking.
inline constinit std::atomic<signed char> rtm_commits_known{-1};
bool find_out_rtm_commits() noexcept;

}  // namespace detail

/// True once `rtm_probe` has seen a commit.
inline bool rtm_commits() noexcept {
    const signed char known = detail::rtm_commits_known.load(std::memory_order_relaxed);
    return known < 0 ? detail::find_out_rtm_commits() : known != 0;
}

}  // namespace abortscope::native
