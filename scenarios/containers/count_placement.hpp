// SPDX-License-Identifier: Apache-2.0
//
// Where a map keeps the number of its elements, which every removal writes.
#pragma once

#include <cstdint>

#include "profiler/scenario.hpp"

namespace abortscope {

enum class CountPlacement : std::uint8_t {
    beside_mask,      ///< as Open vSwitch has it: on a line that every look-up reads
    line_of_its_own,  ///< what a person would do who saw the conflicts
};

inline constexpr ParameterSpec padded_count_parameter{
    .name = "padded_count",
    .option = "",
    .help = "1: the map's count on a cache line of its own, 0: beside its mask",
    .default_value = 0,
    .minimum = 0,
    .maximum = 1,
};

inline CountPlacement count_placement_of(const TrialSpec& spec) {
    return spec.value(padded_count_parameter.name) != 0 ? CountPlacement::line_of_its_own
                                                        : CountPlacement::beside_mask;
}

}  // namespace abortscope
