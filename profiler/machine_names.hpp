// SPDX-License-Identifier: Apache-2.0
//
// What --machine takes: `native`, `model:PRESET`, or `model:FILE` with a preset of one's own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "machines/model/preset.hpp"

namespace abortscope {

/// The built-in ones, the default first.
std::span<const std::string_view> machine_names();

inline bool is_native(std::string_view machine) {
    return machine == "native";
}

/// The name as rows carry it: `model` alone is the default preset. Throws UsageError, with the
/// nearest name, for a machine that does not exist, and IoError for a preset file that cannot be
/// read or is none.
std::string machine_named(std::string_view typed);

/// The preset of a machine that is not native. Throws like `machine_named`.
model::Preset preset_of(std::string_view machine);

/// CPUs that workers may use there: the model's, or those that this process is allowed.
unsigned cpus_of(std::string_view machine);

/// Why transactions cannot run on that machine; empty where they can.
std::string why_no_rtm(std::string_view machine);

}  // namespace abortscope
