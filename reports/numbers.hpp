// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them. Exports have the exact ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace abortscope {

/// 1234567 as "1,234,567".
std::string with_thousands(std::uint64_t number);

/// A share of 1 in percent: "7.9", "100.0", and "<0.1" for what is not nothing.
std::string percent(double share);

/// A unit that makes numbers short: multiply by `factor`.
struct Scale {
    std::string unit;
    double factor;
    int decimals;  ///< three digits of the smallest number, four decimals at most
};

/// For durations in nanoseconds between these two: ms, or us or ns where all are short.
Scale duration_scale(double smallest, double largest);
/// For rates per second.
Scale rate_scale(double smallest, double largest);

/// For counts of things, which are called `unit` ("" where they have no name).
Scale count_scale(double smallest, double largest, std::string_view unit);

std::string scaled(double number, const Scale& scale);

}  // namespace abortscope
