// SPDX-License-Identifier: Apache-2.0
//
// Every scenario, in the order in which `abortscope list` shows them.
#pragma once

#include <span>
#include <string_view>

#include "profiler/scenario.hpp"

namespace abortscope {

std::span<const ScenarioEntry> scenarios();

/// The scenario of that name, or nullptr.
const ScenarioEntry* find_scenario(std::string_view name);

}  // namespace abortscope
