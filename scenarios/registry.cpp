// SPDX-License-Identifier: Apache-2.0
#include "scenarios/registry.hpp"

#include <array>

#include "scenarios/entries.hpp"

namespace abortscope {

std::span<const ScenarioEntry> scenarios() {
    static const std::array entries{
        ovs_hmap_entry(),     ovs_cmap_entry(),    rtm_capacity_entry(), rtm_conflict_entry(),
        rtm_duration_entry(), rtm_nesting_entry(), rtm_syscall_entry(),  rtm_first_touch_entry(),
        rtm_explicit_entry(), rtm_pause_entry(),   rtm_bank_entry(),     lemming_entry(),
        locktest_entry(),     ebizzy_entry(),      hackbench_entry(),    dbench_entry(),
        urcu_rbtree_entry(),
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
