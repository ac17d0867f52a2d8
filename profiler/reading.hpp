// SPDX-License-Identifier: Apache-2.0
//
// A number that knows where it came from.
//
// | source     | the number is                                                        |
// |------------|----------------------------------------------------------------------|
// | `absent`   | not measured; `reason` says why in words that a person can act on    |
// | `hw`       | a hardware counter that ran the whole time, or the clock             |
// | `scaled`   | a counter that ran part of the time, scaled up to all of it          |
// | `software` | counted by the kernel's or our own code, e.g. from the status in EAX |
// | `model`    | exact, from the simulated machine                                    |
//
// An absent number is an empty cell in every report and never 0: a zero is a measurement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace abortscope {

enum class Source : std::uint8_t { absent, hw, scaled, software, model };

/// Spelled as in the CSV columns `…_source`.
inline constexpr std::array<std::string_view, 5> source_names{"absent", "hw", "scaled", "software",
                                                              "model"};

constexpr std::string_view name_of(Source source) {
    return source_names[static_cast<std::size_t>(source)];
}

struct Reading {
    std::uint64_t value = 0;
    Source source = Source::absent;
    std::string reason;  ///< why it is absent; empty otherwise

    bool present() const { return source != Source::absent; }

    static Reading of(std::uint64_t value, Source source) { return Reading{value, source, {}}; }
    static Reading absent(std::string reason) {
        return Reading{0, Source::absent, std::move(reason)};
    }
    bool operator==(const Reading&) const = default;
};

}  // namespace abortscope
