// SPDX-License-Identifier: Apache-2.0
//
// Runs a scenario's phases and checks on either machine, as the runner does, without rows.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machines/model/team.hpp"
#include "machines/native/team.hpp"
#include "primitives/abort_log.hpp"
#include "profiler/scenario.hpp"
#include "scenarios/registry.hpp"

namespace abortscope {

using Changes = std::map<std::string_view, std::int64_t>;

/// A trial of a registered scenario with its default lock, its default values but for `changes`,
/// and policy none.
inline TrialSpec spec_of(std::string_view scenario, unsigned threads, const Changes& changes = {}) {
    TrialSpec spec;
    spec.scenario = find_scenario(scenario)->info;
    spec.lock = spec.scenario->locks.empty() ? "" : spec.scenario->locks.front();
    spec.threads = threads;
    for (const ParameterSpec& parameter : spec.scenario->parameters) {
        const auto change = changes.find(parameter.name);
        spec.values.push_back(change == changes.end() ? parameter.default_value : change->second);
    }
    return spec;
}

struct PhaseResult {
    std::string name;
    std::vector<std::uint64_t> operations;  ///< of each worker
    std::uint64_t duration_ns = 0;

    std::uint64_t total() const {
        return std::accumulate(operations.begin(), operations.end(), std::uint64_t{0});
    }
};

struct TrialOutcome {
    std::vector<PhaseResult> phases;
    std::vector<AbortLog> logs;   ///< of each worker, over all phases
    model::EventCounts counts{};  ///< on the model

    const PhaseResult& phase(std::string_view name) const {
        for (const PhaseResult& result : phases) {
            if (result.name == name) return result;
        }
        throw std::out_of_range(std::string(name));
    }
    /// The sum of a member of the logs.
    std::uint64_t sum(std::uint64_t AbortLog::*member) const {
        std::uint64_t result = 0;
        for (const AbortLog& log : logs) result += log.*member;
        return result;
    }
    std::uint64_t aborts() const {
        std::uint64_t result = 0;
        for (const AbortLog& log : logs) result += log.aborts();
        return result;
    }
    std::uint64_t aborts(rtm::Cause cause) const {
        std::uint64_t result = 0;
        for (const AbortLog& log : logs) result += log.causes[static_cast<std::size_t>(cause)];
        return result;
    }
};

/// `run(count, body)` runs a phase and gives its ns. Throws what a check or a worker throws.
template <class Run>
std::vector<PhaseResult> run_phases(Scenario& scenario, const TrialSpec& spec, Run run) {
    std::vector<PhaseResult> results;
    for (std::size_t phase = 0; phase < spec.scenario->phases.size(); ++phase) {
        if (!scenario.has_phase(phase)) continue;
        const PhaseSpec& info = spec.scenario->phases[phase];
        PhaseResult result{std::string(info.name),
                           std::vector<std::uint64_t>(info.all_workers ? spec.threads : 1), 0};
        result.duration_ns =
            run(static_cast<unsigned>(result.operations.size()),
                [&](unsigned worker) { result.operations[worker] = scenario.run(phase, worker); });
        scenario.check(phase);
        results.push_back(std::move(result));
    }
    return results;
}

inline TrialOutcome run_native(const TrialSpec& spec) {
    native::Team team(spec.threads, {});
    const auto scenario = find_scenario(spec.scenario->name)->make_native(spec);
    TrialOutcome outcome;
    outcome.phases =
        run_phases(*scenario, spec, [&](unsigned count, const std::function<void(unsigned)>& body) {
            return team.run(count, body);
        });
    outcome.logs.assign(team.logs().begin(), team.logs().end());
    return outcome;
}

struct ModelSetting {
    model::Preset preset = *model::find_preset("haswell");
    std::uint32_t injected_aborts_ppm = 0;

    /// Without interrupts, for tests that count aborts.
    static ModelSetting quiet(const model::Preset& preset) {
        ModelSetting setting{preset};
        setting.preset.timer_hz = 1;
        return setting;
    }
};

/// With `make` in the place of the registry's factory: for scenarios that are broken on purpose.
inline TrialOutcome run_model(const TrialSpec& spec, const ModelSetting& setting,
                              const std::function<std::unique_ptr<Scenario>()>& make) {
    model::EngineOptions options;
    options.workers = spec.threads;
    options.seed = spec.seed;
    options.injected_aborts_ppm = setting.injected_aborts_ppm;
    model::Team team(setting.preset, options);
    const model::Engine::Scope scope(team.engine());
    const auto scenario = make();
    TrialOutcome outcome;
    outcome.phases =
        run_phases(*scenario, spec, [&](unsigned count, const std::function<void(unsigned)>& body) {
            return team.run(count, body);
        });
    for (unsigned worker = 0; worker < spec.threads; ++worker) {
        outcome.logs.push_back(team.log(worker));
    }
    outcome.counts = team.counts();
    return outcome;
}

inline TrialOutcome run_model(const TrialSpec& spec, const ModelSetting& setting = {}) {
    return run_model(spec, setting,
                     [&] { return find_scenario(spec.scenario->name)->make_model(spec); });
}

/// The base of tests that run phases on the model.
class OnTheModel : public ::testing::Test {
  protected:
    void SetUp() override {
#if defined(__SANITIZE_THREAD__)
        constexpr bool watched_by_tsan = true;
#elif defined(__has_feature)
        constexpr bool watched_by_tsan = __has_feature(thread_sanitizer);
#else
        constexpr bool watched_by_tsan = false;
#endif
        if (watched_by_tsan) GTEST_SKIP() << "ThreadSanitizer does not follow the model's fibers";
    }
};

inline TrialSpec with_policy(TrialSpec spec, std::string_view policy) {
    spec.policy = policy;
    return spec;
}

}  // namespace abortscope
