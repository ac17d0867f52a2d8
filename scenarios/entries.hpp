// SPDX-License-Identifier: Apache-2.0
//
// The rows that the scenarios' files give to the registry, one function a file.
#pragma once

#include "profiler/scenario.hpp"

namespace abortscope {

ScenarioEntry ovs_hmap_entry();
ScenarioEntry ovs_cmap_entry();

// One cause of aborts each.
ScenarioEntry rtm_capacity_entry();
ScenarioEntry rtm_conflict_entry();
ScenarioEntry rtm_duration_entry();
ScenarioEntry rtm_explicit_entry();
ScenarioEntry rtm_first_touch_entry();
ScenarioEntry rtm_nesting_entry();
ScenarioEntry rtm_pause_entry();
ScenarioEntry rtm_syscall_entry();
ScenarioEntry rtm_bank_entry();
ScenarioEntry lemming_entry();

// The locks of the Linux threads, and user-space forms of the programs that they were measured
// with.
ScenarioEntry locktest_entry();
ScenarioEntry ebizzy_entry();
ScenarioEntry hackbench_entry();
ScenarioEntry dbench_entry();
ScenarioEntry urcu_rbtree_entry();

}  // namespace abortscope
