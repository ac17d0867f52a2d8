// SPDX-License-Identifier: Apache-2.0
#include "scenarios/registry.hpp"

#include <array>

#include "scenarios/entries.hpp"

namespace abortscope {

std::span<const ScenarioEntry> scenarios() {
    static const std::array entries{
    };
    return entries;
}

const ScenarioEntry* find_scenario(std::string_view name) {
    for (const ScenarioEntry& entry : scenarios()) {
        if (entry.info->name == name) return &entry;
    }
    return nullptr;
}

}  // namespace abortscope
