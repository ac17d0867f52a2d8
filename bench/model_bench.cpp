// SPDX-License-Identifier: Apache-2.0
//
// How fast the simulated machine is: simulated accesses per second of host time on one core.
//
//     build/release/bench/model_bench
//
// `items_per_second` is the figure, of the phase that is named; setting up and checking is not in
// it.
#include <benchmark/benchmark.h>

#include <string>

#include "machines/model/directory.hpp"
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

/// The search under contention alone: workers and the locks of a chained hash map.
void search(benchmark::State& state, const char* policy, unsigned threads, const char* machine,
            std::int64_t n) {
    const ScenarioEntry* entry = find_scenario("ovs-hmap");
    TrialSpec spec = spec_of(*entry, policy, threads, machine);
    set_value(spec, "n", n);
    set_value(spec, "mutation_pct", 5);
    std::uint64_t accesses = 0;
    for (auto _ : state) {
        const TrialResult result = run_trial(*entry, spec);
        for (const PhaseEffort& effort : result.efforts) {
            if (effort.phase != "search") continue;
            state.SetIterationTime(static_cast<double>(effort.host_ns) / 1e9);
            accesses += effort.simulated_accesses;
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(accesses));
}

BENCHMARK_CAPTURE(search, haswell_plain_4_workers, "none", 4, "model:haswell", 100'000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(5);
BENCHMARK_CAPTURE(search, haswell_elided_4_workers, "ovs2016", 4, "model:haswell", 100'000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(5);

// The same work for each worker and the same computer, so that a larger number of workers is all
// that differs: the cost of an access at 256 workers against that at 4.
constexpr const char* large = "model:sapphire-rapids+sockets=4";
BENCHMARK_CAPTURE(search, large_plain_4_workers, "none", 4, large, 5000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(10);
BENCHMARK_CAPTURE(search, large_plain_256_workers, "none", 256, large, 5000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(search, large_elided_4_workers, "ovs2016", 4, large, 5000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(10);
BENCHMARK_CAPTURE(search, large_elided_256_workers, "ovs2016", 256, large, 5000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);

/// What the directory keeps for a line of a scenario, however many workers hold it.
void bookkeeping(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(sizeof(model::LineState));
    state.counters["bytes_per_line"] = sizeof(model::LineState);
}
BENCHMARK(bookkeeping);

}  // namespace
}  // namespace abortscope
