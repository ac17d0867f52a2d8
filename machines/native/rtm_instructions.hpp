// SPDX-License-Identifier: Apache-2.0
//
// XBEGIN, XEND, XABORT, XTEST and XSUSLDTRK-free RTM as inline assembly.
//
// No compile-time gate and no -mrtm: whether the instructions may run is asked of CPUID and of a
// guarded probe at run time (rtm_probe.hpp). Executing any of them where CPUID denies RTM is #UD.
// Semantics: Intel SDM vol. 1 ch. 16; encodings vol. 2.
#pragma once

#include <cstdint>

#include "primitives/rtm_status.hpp"

namespace abortscope::native {

/// XBEGIN whose fallback is the next instruction: EAX keeps its all-ones preload when the
/// transaction starts, and holds the status when it has aborted.
inline rtm::Status xbegin() noexcept {
    std::uint32_t status = ~std::uint32_t{0};
#if defined(__x86_64__)
    asm volatile(".byte 0xc7, 0xf8; .long 0" : "+a"(status)::"memory");
#endif
    return rtm::Status{status};
}

inline void xend() noexcept {
#if defined(__x86_64__)
    asm volatile(".byte 0x0f, 0x01, 0xd5" ::: "memory");
#endif
}

template <std::uint8_t Code>
inline void xabort() noexcept {
#if defined(__x86_64__)
    asm volatile(".byte 0xc6, 0xf8, %P0" ::"i"(Code) : "memory");
#endif
}

/// True inside a transaction.
inline bool xtest() noexcept {
    bool inside = false;
#if defined(__x86_64__)
    asm volatile(".byte 0x0f, 0x01, 0xd6; setnz %0" : "=r"(inside)::"memory", "cc");
#endif
    return inside;
}

}  // namespace abortscope::native
