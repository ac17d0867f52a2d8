// SPDX-License-Identifier: Apache-2.0
#include "profiler/trial_runner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "machines/model/preset.hpp"
#include "machines/model/team.hpp"
#include "machines/native/affinity.hpp"
#include "machines/native/team.hpp"
#include "primitives/retry_policy.hpp"
#include "profiler/counters/native_counters.hpp"
#include "profiler/counters/self_test.hpp"
#include "profiler/errors.hpp"
#include "profiler/host/host_description.hpp"
#include "profiler/machine_names.hpp"
#include "profiler/sweep.hpp"

namespace abortscope {
namespace {

using Body = std::function<void(unsigned)>;

/// A row with everything that is known before the phase runs.
Measurement blank_row(const TrialSpec& spec, std::string_view phase, unsigned cpus) {
    Measurement row;
    row.scenario = spec.scenario->name;
    row.phase = phase;
    row.machine = spec.machine;
    row.lock = spec.lock;
    row.policy = spec.policy;
    row.threads = spec.threads;
    row.cpus = cpus;
    row.seed = spec.seed;
    row.repeat = spec.repeat;
    for (std::size_t i = 0; i < spec.scenario->parameters.size(); ++i) {
        const ParameterSpec& parameter = spec.scenario->parameters[i];
        const std::int64_t value = spec.values.at(i);
        const bool is_word = !parameter.words.empty();
        row.parameters.push_back(
            {parameter.name, value,
             is_word ? parameter.words[static_cast<std::size_t>(value)] : std::string_view{}});
    }
    return row;
}

/// What a phase needs of its machine's team.
struct Machinery {
    /// Runs the body on the row's workers and fills in what the machine measured.
    std::function<void(Measurement& row, const Body& body)> run;
    std::function<AbortLog&(unsigned worker)> log;
};

/// The phases of one trial, on any machine.
std::vector<Measurement> run_phases(const Machinery& machinery, Scenario& scenario,
                                    const TrialSpec& spec, unsigned cpus) {
    std::vector<Measurement> rows;
    for (std::size_t phase = 0; phase < spec.scenario->phases.size(); ++phase) {
        if (!scenario.has_phase(phase)) continue;
        const PhaseSpec& phase_spec = spec.scenario->phases[phase];
        Measurement row = blank_row(spec, phase_spec.name, cpus);
        row.worker_operations.resize(phase_spec.all_workers ? spec.threads : 1);
        for (unsigned worker = 0; worker < spec.threads; ++worker) {
            machinery.log(worker) = AbortLog{};
        }
        machinery.run(row, [&](unsigned worker) {
            row.worker_operations[worker] = scenario.run(phase, worker);
        });
        row.log.emplace();
        for (unsigned worker = 0; worker < spec.threads; ++worker) {
            add(*row.log, machinery.log(worker));
        }
        try {
            if (row.log->misuses != 0) {
                throw CheckFailed(
                    fmt::format("{} unlocks of a lock that nobody held", row.log->misuses));
            }
            scenario.check(phase);
        } catch (const CheckFailed& failure) {
            throw CheckFailed(fmt::format("{}: {}", phase_spec.name, failure.what()));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

// ---- native ----

/// The CPUs that a native trial's workers are pinned to.
std::vector<unsigned> native_cpus(const TrialSpec& spec) {
    std::vector<unsigned> cpus = native::allowed_cpus();
    if (spec.cpus > cpus.size()) {
        throw CannotMeasure(fmt::format("--cpus {}: this process may use {} CPUs of this computer",
                                        spec.cpus, cpus.size()));
    }
    if (spec.cpus != 0) cpus.resize(spec.cpus);
    return cpus;
}

PlanOptions native_plan_options;

/// What this computer can count, found out once.
struct NativeCounting {
    HostDescription host = describe_host();
    CounterPlan plan = tested_plan(all_counters(), native_plan_options);

    static const NativeCounting& get() {
        static const NativeCounting counting;
        return counting;
    }

  private:
    static std::vector<Counter> all_counters() {
        std::vector<Counter> all;
        for (std::size_t i = 0; i < counter_count; ++i) all.push_back(counter_at(i));
        return all;
    }
};

/// The whole trial, with the counters of one pass.
std::vector<Measurement> run_native_pass(const ScenarioEntry& entry, const TrialSpec& spec,
                                         std::span<const unsigned> cpus, std::size_t pass) {
    const NativeCounting& counting = NativeCounting::get();
    native::Team team(spec.threads, cpus);
    NativeCounters counters(counting.plan, pass, spec.threads, counting.host);
    const std::unique_ptr<Scenario> scenario = entry.make_native(spec);
    const Machinery machinery{
        .run =
            [&](Measurement& row, const Body& body) {
                const auto workers = static_cast<unsigned>(row.worker_operations.size());
                row.duration_ns = team.run(workers, body, &counters);
                row.counters = counters.take();
                row.involuntary_switches = counters.involuntary_switches();
                row.time_source = Provenance::hw;
                row.cause_source = Provenance::software;
            },
        .log = [&](unsigned worker) -> AbortLog& { return team.logs()[worker]; },
    };
    return run_phases(machinery, *scenario, spec, static_cast<unsigned>(cpus.size()));
}

TrialResult run_on_native(const ScenarioEntry& entry, const TrialSpec& spec) {
    const std::vector<unsigned> cpus = native_cpus(spec);
    TrialResult result;
    result.rows = run_native_pass(entry, spec, cpus, 0);
    for (std::size_t pass = 1; pass < NativeCounting::get().plan.passes.size(); ++pass) {
        const std::vector<Measurement> again = run_native_pass(entry, spec, cpus, pass);
        for (std::size_t i = 0; i < result.rows.size(); ++i) {
            merge_pass(result.rows[i].counters, again.at(i).counters);
        }
    }
    return result;
}

// ---- model ----

Readings readings_of(const model::EventCounts& counts, const model::Preset& preset) {
    Readings readings;
    const auto set = [&](Counter counter, std::uint64_t value) {
        readings[index_of(counter)] = Reading::of(value, Provenance::model);
    };
    set(Counter::tx_start, counts.tx_start);
    set(Counter::tx_commit, counts.tx_commit);
    set(Counter::tx_abort, counts.tx_abort);
    set(Counter::tx_conflict, counts.tx_conflict);
    set(Counter::tx_capacity, counts.tx_capacity_read + counts.tx_capacity_write);
    set(Counter::tx_capacity_read, counts.tx_capacity_read);
    set(Counter::tx_capacity_write, counts.tx_capacity_write);
    set(Counter::abort_mem, counts.abort_mem);
    set(Counter::abort_timer, counts.abort_timer);
    set(Counter::abort_unfriendly, counts.abort_unfriendly);
    set(Counter::abort_memtype, counts.abort_memtype);
    set(Counter::abort_events, counts.abort_events);
    set(Counter::cycles, counts.cycles);
    set(Counter::cycles_t, counts.cycles_t);
    set(Counter::cycles_ct, counts.cycles_ct);
    set(Counter::task_clock_ns, preset.ns_of_cycles(counts.cycles));
    set(Counter::context_switches, counts.context_switches);
    set(Counter::cpu_migrations, counts.migrations);
    set(Counter::page_faults, counts.page_faults);
    return readings;
}

constexpr std::size_t most_hot_lines = 16;

std::uint64_t ns_since(std::chrono::steady_clock::time_point start) {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
}

TrialResult run_on_model(const ScenarioEntry& entry, const TrialSpec& spec,
                         const TrialOptions& trial_options) {
    const model::Preset preset = preset_of(spec.machine);
    model::EngineOptions options;
    options.workers = spec.threads;
    options.seed = spec.seed;
    options.cpus = spec.cpus;
    options.observer = trial_options.observer;
    options.injected_aborts_ppm = trial_options.injected_aborts_ppm;
    model::Team team(preset, options);
    const model::Engine::Scope scope(team.engine());
    const std::unique_ptr<Scenario> scenario = entry.make_model(spec);
    TrialResult result;
    const Machinery machinery{
        .run =
            [&](Measurement& row, const Body& body) {
                const auto started = std::chrono::steady_clock::now();
                model::EventCounts before = team.counts();
                const auto workers = static_cast<unsigned>(row.worker_operations.size());
                if (options.observer != nullptr) options.observer->phase(row.phase);
                row.duration_ns = team.run(workers, body);
                model::EventCounts counts = team.counts();
                counts -= before;
                result.efforts.push_back({row.phase, counts.accesses, ns_since(started)});
                row.counters = readings_of(counts, preset);
                row.involuntary_switches = counts.involuntary_switches;
                row.time_source = Provenance::model;
                row.cause_source = Provenance::model;
            },
        .log = [&](unsigned worker) -> AbortLog& { return team.log(worker); },
    };
    const unsigned cpus = spec.cpus != 0 ? spec.cpus : preset.hardware_threads();
    result.rows = run_phases(machinery, *scenario, spec, cpus);
    result.simulated_accesses = team.counts().accesses;
    result.hot_lines = hot_lines_of(team.engine(), most_hot_lines);
    result.capacity_map = team.engine().attribution().capacity_map();
    result.capacity_map_ways = team.engine().attribution().ways();
    result.capacity_lines = team.engine().attribution().capacity_lines();
    result.abort_reasons = team.engine().attribution().reasons();
    return result;
}

}  // namespace

void require_runnable(const TrialSpec& spec) {
    if (is_native(spec.machine)) {
        native_cpus(spec);
    } else if (const model::Preset preset = preset_of(spec.machine);
               spec.cpus > preset.hardware_threads()) {
        throw UsageError(fmt::format("--cpus {}: {} has {} CPUs", spec.cpus, spec.machine,
                                     preset.hardware_threads()));
    }
    const bool bare_transactions = spec.scenario->locks.empty();
    const RetryPolicy* policy = find_policy(spec.policy);
    if (!bare_transactions && (policy == nullptr || !policy->elides)) return;
    const std::string reason = why_no_rtm(spec.machine);
    if (reason.empty()) return;
    throw CannotMeasure(fmt::format(
        "{} needs RTM, and {}",
        bare_transactions ? std::string(spec.scenario->name) : "--policy " + spec.policy, reason));
}

void plan_native_counters(const PlanOptions& options) {
    native_plan_options = options;
}

const CounterPlan& native_counter_plan() {
    return NativeCounting::get().plan;
}

TrialResult run_trial(const ScenarioEntry& entry, const TrialSpec& spec,
                      const TrialOptions& options) {
    require_runnable(spec);
    const auto start = std::chrono::steady_clock::now();
    try {
        TrialResult result = is_native(spec.machine) ? run_on_native(entry, spec)
                                                     : run_on_model(entry, spec, options);
        result.spec = spec;
        result.host_ns = ns_since(start);
        return result;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const CannotMeasure&) {
        throw;
    } catch (const UsageError&) {  // values that do not fit together
        throw;
    } catch (const std::exception& failure) {
        throw CheckFailed(fmt::format("{}: {}; again with: {}", spec.scenario->name, failure.what(),
                                      command_for(spec)));
    }
}

}  // namespace abortscope
