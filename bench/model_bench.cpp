// SPDX-License-Identifier: Apache-2.0
//
// How fast the simulated machine is: simulated accesses per second of host time on one core.
//
//     build/release/bench/model_bench
//
// `items_per_second` is the figure. Whole trials are timed, set-up and checks included.
#include <benchmark/benchmark.h>

#include <string>

#include "profiler/trial_runner.hpp"
#include "scenarios/registry.hpp"

namespace abortscope {
namespace {

TrialSpec spec_of(const ScenarioEntry& entry, const char* policy, unsigned threads,
                  const char* machine) {
    TrialSpec spec;
    spec.scenario = entry.info;
    spec.machine = machine;
    spec.policy = policy;
    spec.threads = threads;
    if (!entry.info->locks.empty()) spec.lock = entry.info->locks.front();
    for (const ParameterSpec& parameter : entry.info->parameters) {
        spec.values.push_back(parameter.default_value);
    }
    return spec;
}

void set_value(TrialSpec& spec, std::string_view name, std::int64_t value) {
    for (std::size_t i = 0; i < spec.scenario->parameters.size(); ++i) {
        if (spec.scenario->parameters[i].name == name) spec.values[i] = value;
    }
}

void run(benchmark::State& state, const char* policy, unsigned threads, const char* machine,
         std::int64_t n) {
    const ScenarioEntry* entry = find_scenario("ovs-hmap");
    TrialSpec spec = spec_of(*entry, policy, threads, machine);
    set_value(spec, "n", n);
    set_value(spec, "mutation_pct", 5);
    std::uint64_t accesses = 0;
    for (auto _ : state) {
        const TrialResult result = run_trial(*entry, spec);
        accesses += result.simulated_accesses;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(accesses));
}

BENCHMARK_CAPTURE(run, ovs_hmap_plain_4_workers, "none", 4, "model:haswell", 100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, ovs_hmap_elided_4_workers, "ovs2016", 4, "model:haswell", 100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, sapphire_rapids_plain_4_workers, "none", 4, "model:sapphire-rapids", 20'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, sapphire_rapids_plain_64_workers, "none", 64, "model:sapphire-rapids", 2000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace abortscope
