// SPDX-License-Identifier: Apache-2.0
//
// Seeded random integers, the same on every host: no libm, no std::*_distribution.
//
// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) spreads a seed; xoshiro256** 1.0 (Blackman and
// Vigna, 2018, public domain) draws. Use one generator per purpose, so that a draw more here does
// not shift the draws there.
#pragma once

#include <array>
#include <cstdint>

namespace abortscope {

constexpr std::uint64_t split_mix(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

class Random {
  public:
    /// Streams of one seed are independent: give each purpose and each worker its own.
    constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
        std::uint64_t mix = seed ^ (stream * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du);
        for (std::uint64_t& word : state_) word = split_mix(mix);
    }

    constexpr std::uint64_t next() {
        const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotl(state_[3], 45);
        return result;
    }

    constexpr std::uint32_t next32() { return static_cast<std::uint32_t>(next() >> 32); }

    /// 0 .. bound-1 by multiply-shift; the bias is below bound / 2^32. `bound` fits 32 bits.
    constexpr std::uint64_t below(std::uint64_t bound) {
        return (std::uint64_t{next32()} * bound) >> 32;
    }

    /// An exponential sample with this mean, rounded down: -mean * ln(u) in fixed point.
    constexpr std::uint64_t exponential(std::uint64_t mean) {
        // u in (0, 1] as a 64-bit fraction; log2 by leading zeros and repeated squaring.
        const std::uint64_t u = next() | 1u;
        std::uint64_t mantissa = u;
        std::uint32_t whole = 0;
        while ((mantissa >> 63) == 0) {
            mantissa <<= 1;
            ++whole;
        }
        // mantissa / 2^63 in [1, 2): 24 fractional bits of its log2.
        std::uint64_t x = mantissa >> 31;  // 32.32 fixed point with one integer bit: [2^32, 2^33)
        std::uint64_t fraction = 0;
        for (int bit = 0; bit < 24; ++bit) {
            x = static_cast<std::uint64_t>((static_cast<unsigned __int128>(x) * x) >> 32);
            fraction <<= 1;
            if (x >= (std::uint64_t{1} << 33)) {
                x >>= 1;
                fraction |= 1;
            }
        }
        // -log2(u) = whole + 1 - log2(mantissa / 2^63)
        const std::uint64_t minus_log2 =
            (std::uint64_t{whole + 1} << 24) - fraction;  // 24 fractional bits
        constexpr std::uint64_t ln2 = 11629080;           // ln 2 * 2^24
        const auto product = static_cast<unsigned __int128>(minus_log2) * ln2 * mean;
        return static_cast<std::uint64_t>(product >> 48);
    }

  private:
    static constexpr std::uint64_t rotl(std::uint64_t x, int k) {
        return (x << k) | (x >> (64 - k));
    }
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace abortscope
