// SPDX-License-Identifier: Apache-2.0
//
// What a scenario says against its own aborts: changes of its parameters that stand for changes of
// a program. `why` runs each as a trial, so that a remedy is never more than a guess to be
// measured.
//
//     Remedy{.cause = rtm::Cause::conflict,
//            .words = "give the map's count a cache line of its own",
//            .changes = {{{.parameter = "padded_count", .value = 1}}}}
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "primitives/rtm_status.hpp"

namespace abortscope {

/// What becomes of one parameter.
struct ParameterChange {
    enum class Kind : std::uint8_t {
        set,       ///< to `value`
        divide,    ///< by the remedy's factor
        multiply,  ///< with the remedy's factor
    };

    std::string_view parameter{};  ///< empty: no change
    Kind kind = Kind::set;
    std::int64_t value = 0;  ///< of a parameter with words: the word's place
};

/// Where a remedy makes sense.
struct RemedyCondition {
    std::string_view parameter{};  ///< empty: everywhere
    std::int64_t value = 0;
};

struct Remedy {
    rtm::Cause cause = rtm::Cause::other;  ///< that it should take away
    /// What to do to a program; "{}" stands for the factor.
    std::string_view words{};
    RemedyCondition where{};
    std::array<ParameterChange, 2> changes{};
    /// Ascending. The smallest one that takes the cause away is the one to tell.
    std::span<const std::int64_t> factors{};
    /// The work of one operation is split: it takes as many operations as the factor says.
    bool splits_operations = false;
};

/// Factors of a remedy that splits work: into 2 parts, 4, …
inline constexpr std::array<std::int64_t, 5> split_factors{2, 4, 8, 16, 32};

}  // namespace abortscope
