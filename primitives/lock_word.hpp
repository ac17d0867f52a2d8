// SPDX-License-Identifier: Apache-2.0
//
// A 32-bit lock word of which single bytes and a half are accessed too.
//
//   bits   31..16 high half | 15..8 second byte | 7..0 first byte
//
// Each view is an Atomic of its size at its own address, over the same storage, on both machines:
// an access to a part touches that part only, and is ordered with accesses to the whole by the
// coherence of the line (x86 and Arm; outside the C++ memory model, as are the kernel's locks that
// do this). Little-endian only.
#pragma once

#include <bit>
#include <cstdint>

#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M>
union LockWord {
    static_assert(std::endian::native == std::endian::little);
    template <class T>
    using Atomic = typename M::template Atomic<T>;

    struct Bytes {
        Atomic<std::uint8_t> first;
        Atomic<std::uint8_t> second;
        Atomic<std::uint16_t> high;
    };
    struct Halves {
        Atomic<std::uint16_t> low;
        Atomic<std::uint16_t> high;
    };

    LockWord() : whole(0) {}
    ~LockWord() {}
    LockWord(const LockWord&) = delete;
    LockWord& operator=(const LockWord&) = delete;

    Atomic<std::uint32_t> whole;
    Bytes bytes;
    Halves halves;
};

}  // namespace abortscope
