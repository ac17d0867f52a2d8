// SPDX-License-Identifier: Apache-2.0
//
// A trial of each scenario that takes milliseconds, for tests that run them all in many ways.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "tests/scenarios/trial.hpp"

namespace abortscope {

/// Smaller values than the defaults; a scenario without a row is small as it is.
inline const std::map<std::string_view, Changes>& small_values() {
    static const std::map<std::string_view, Changes> values{
        {"ovs-hmap", {{"n", 150}, {"mutation_pct", 30}}},
        {"ovs-cmap", {{"n", 150}, {"mutation_pct", 30}, {"batch", 4}}},
        {"rtm-capacity", {{"transactions", 20}}},
        {"rtm-conflict", {{"transactions", 100}}},
        {"rtm-duration", {{"transactions", 5}}},
        {"rtm-first-touch", {{"pages", 20}}},
        {"rtm-bank", {{"transfers", 60}, {"accounts", 8}, {"reads_per_transfer", 3}}},
        {"locktest", {{"duration_ms", 1}, {"read_pct", 70}, {"call", 1}, {"gap_ns", 20'000}}},
        {"ebizzy", {{"duration_ms", 1}, {"pages", 20}, {"allocator_batch", 7}}},
        {"hackbench", {{"messages", 20}, {"fan", 1}, {"run_queues", 2}}},
        {"dbench", {{"duration_ms", 1}, {"transfer_bytes", 1024}, {"buckets", 4}}},
        {"urcu-rbtree", {{"duration_ms", 1}, {"batch_delay_us", 100}, {"keys", 40}}},
        {"lemming", {{"sections", 100}, {"real_every", 20}, {"section_cycles", 300}}},
    };
    return values;
}

inline TrialSpec small_trial(const ScenarioInfo& info, unsigned threads) {
    const auto values = small_values().find(info.name);
    return spec_of(info.name, threads, values == small_values().end() ? Changes{} : values->second);
}

/// Of every scenario that takes a lock, with each of its locks.
inline std::vector<TrialSpec> small_trials_on_every_lock(unsigned threads) {
    std::vector<TrialSpec> trials;
    for (const ScenarioEntry& entry : scenarios()) {
        for (const std::string_view lock : entry.info->locks) {
            trials.push_back(small_trial(*entry.info, threads));
            trials.back().lock = lock;
        }
    }
    return trials;
}

}  // namespace abortscope
