// SPDX-License-Identifier: Apache-2.0
#include "profiler/sweep.hpp"

#include <fmt/format.h>

namespace abortscope {
namespace {

/// Every combination of one value per list; the last list varies fastest.
std::vector<std::vector<std::int64_t>> product(
    const std::vector<std::vector<std::int64_t>>& lists) {
    std::vector<std::vector<std::int64_t>> combinations{{}};
    for (const std::vector<std::int64_t>& list : lists) {
        std::vector<std::vector<std::int64_t>> longer;
        longer.reserve(combinations.size() * list.size());
        for (const std::vector<std::int64_t>& combination : combinations) {
            for (const std::int64_t value : list) {
                longer.push_back(combination);
                longer.back().push_back(value);
            }
        }
        combinations = std::move(longer);
    }
    return combinations;
}

}  // namespace

std::vector<Trial> trials_of(const SweepSpec& sweep) {
    std::vector<Trial> trials;
    const auto levels = product(sweep.values);
    TrialSpec spec;
    spec.scenario = sweep.scenario->info;
    for (const std::string& machine : sweep.machines) {
        spec.machine = machine;
        for (const std::string& lock : sweep.locks) {
            spec.lock = lock;
            for (const unsigned threads : sweep.threads) {
                spec.threads = threads;
                for (const unsigned cpus : sweep.cpus) {
                    spec.cpus = cpus;
                    for (const std::vector<std::int64_t>& values : levels) {
                        spec.values = values;
                        for (const std::string& policy : sweep.policies) {
                            spec.policy = policy;
                            for (unsigned repeat = 0; repeat < sweep.repeats; ++repeat) {
                                spec.repeat = repeat;
                                spec.seed = sweep.seed + repeat;
                                trials.push_back({sweep.scenario, spec});
                            }
                        }
                    }
                }
            }
        }
    }
    return trials;
}

std::vector<Trial> shard_of(const std::vector<Trial>& trials, std::size_t number,
                            std::size_t count) {
    std::vector<Trial> share;
    for (std::size_t i = number - 1; i < trials.size(); i += count) share.push_back(trials[i]);
    return share;
}

std::string command_for(const TrialSpec& trial) {
    std::string text =
        fmt::format("abortscope run {} --machine {}", trial.scenario->name, trial.machine);
    if (!trial.lock.empty()) text += fmt::format(" --lock {}", trial.lock);
    if (!trial.policy.empty()) text += fmt::format(" --policy {}", trial.policy);
    text += fmt::format(" --threads {}", trial.threads);
    if (trial.cpus != 0) text += fmt::format(" --cpus {}", trial.cpus);
    for (std::size_t i = 0; i < trial.scenario->parameters.size(); ++i) {
        const ParameterSpec& parameter = trial.scenario->parameters[i];
        const std::int64_t value = trial.values[i];
        const std::string shown =
            parameter.words.empty() ? fmt::format("{}", value)
                                    : std::string(parameter.words[static_cast<std::size_t>(value)]);
        text += parameter.option.empty() ? fmt::format(" --set {}={}", parameter.name, shown)
                                         : fmt::format(" --{} {}", parameter.option, shown);
    }
    return text + fmt::format(" --seed {}", trial.seed);
}

}  // namespace abortscope
