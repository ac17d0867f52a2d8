// SPDX-License-Identifier: Apache-2.0
//
// A sweep: the product of lists, in one fixed order, and its share for one of several computers.
//
// From the outermost list to the innermost: machine, lock, threads, CPUs, the scenario's
// parameters in its order, policy, repeat. So the trials that one compares, policies at the same
// level, are neighbours in the output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/scenario.hpp"

namespace abortscope {

/// A list for each thing that can vary. No list may be empty.
struct SweepSpec {
    const ScenarioEntry* scenario = nullptr;
    std::vector<std::string> machines;
    std::vector<std::string> locks;
    std::vector<unsigned> threads;
    std::vector<unsigned> cpus{0};
    std::vector<std::vector<std::int64_t>> values;  ///< one list per parameter, in its order
    std::vector<std::string> policies;
    std::uint64_t seed = 1;
    unsigned repeats = 1;  ///< repeat k runs with seed + k
};

struct Trial {
    const ScenarioEntry* scenario = nullptr;
    TrialSpec spec;
};

/// Every trial of the sweep, in order.
std::vector<Trial> trials_of(const SweepSpec& sweep);

/// Share `number` (from 1) of `count`: every count-th trial, so that long and short ones spread.
/// The shares are disjoint and together are all trials.
std::vector<Trial> shard_of(const std::vector<Trial>& trials, std::size_t number,
                            std::size_t count);

/// The command that runs exactly this trial: "abortscope run ovs-hmap --machine ... --seed 3".
std::string command_for(const TrialSpec& trial);

}  // namespace abortscope
