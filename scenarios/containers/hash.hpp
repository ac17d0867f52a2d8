// SPDX-License-Identifier: Apache-2.0
//
// The hash of the map scenarios: whole numbers to 32 well-mixed bits.
//
// The mixer is the 32-bit finaliser of MurmurHash3 (Austin Appleby, public domain). It is a
// bijection: distinct values have distinct hashes, as with the hash that the Open vSwitch benchmark
// uses, so a look-up compares one element's value and no more.
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"

namespace abortscope {

constexpr std::uint32_t mix32(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    return x;
}

/// What a hash costs where computing has to be said: the dependent chain above is three shifts,
/// three exclusive-ors and two multiplications of 3 cycles each (Agner Fog, instruction tables,
/// Haswell), after one more exclusive-or with the basis.
inline constexpr std::uint64_t hash_cycles = 13;

template <Machine M>
std::uint32_t hash_int(std::uint32_t value, std::uint32_t basis) {
    M::compute(hash_cycles);
    return mix32(value ^ basis);
}

}  // namespace abortscope
