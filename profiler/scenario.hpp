// SPDX-License-Identifier: Apache-2.0
//
// What a workload is to the runner: a name, parameters, phases, and a body that workers run.
//
// A scenario is written once as a template over a Machine and registered for both:
//
//     template <Machine M>
//     class Demo final : public Scenario {
//       public:
//         explicit Demo(const TrialSpec& spec);
//         std::uint64_t run(std::size_t phase, unsigned worker) override;   // on the machine
//         void check(std::size_t phase) override;                           // after the phase
//     };
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/remedy.hpp"

namespace abortscope {

/// A parameter of a scenario: a whole number in a range, or one of a few words.
struct ParameterSpec {
    std::string_view name;    ///< its CSV column, with the unit: `mutation_pct`
    std::string_view option;  ///< its option without dashes: `mutation`; empty: only --set
    std::string_view help;
    std::int64_t default_value = 0;
    std::int64_t minimum = 0;
    std::int64_t maximum = 0;
    /// If not empty, the value is an index into these words, and is shown as the word.
    std::span<const std::string_view> words{};
};

/// A scenario with a parameter of this name runs its phases for that time: its score is a rate.
inline constexpr std::string_view duration_parameter_name = "duration_ms";

struct PhaseSpec {
    std::string_view name;
    bool all_workers = false;  ///< otherwise worker 0 alone runs it
};

struct ScenarioInfo {
    std::string_view name;
    std::string_view summary{};
    std::string_view source{};  ///< paper, thread or manual
    std::span<const ParameterSpec> parameters{};
    std::span<const PhaseSpec> phases{};
    /// The default one first. Empty: bare transactions, which take no lock, know no policy and need
    /// a machine with RTM.
    std::span<const std::string_view> locks{};
    std::span<const std::string_view> default_policies{};  ///< names of retry policies
    unsigned default_threads = 4;
    std::span<const Remedy> remedies{};  ///< for `why`; policies and threads it tries by itself
};

/// One point of a sweep: everything that a trial depends on.
struct TrialSpec {
    const ScenarioInfo* scenario = nullptr;
    std::string machine = "model:haswell";
    std::string lock;
    std::string policy = "none";
    unsigned threads = 4;
    unsigned cpus = 0;                 ///< CPUs that workers may use; 0 = all of the machine
    std::vector<std::int64_t> values;  ///< one per scenario->parameters, in its order
    std::uint64_t seed = 1;            ///< the one this trial uses: repeat k of --seed S has S + k
    unsigned repeat = 0;

    /// The value of a parameter; std::out_of_range if the scenario has none of that name.
    std::int64_t value(std::string_view parameter) const {
        for (std::size_t i = 0; i < scenario->parameters.size(); ++i) {
            if (scenario->parameters[i].name == parameter) return values.at(i);
        }
        throw std::out_of_range(std::string(parameter));
    }
};

/// A scenario's own check did not hold: a lost element, two owners at once, a lost wake-up.
class CheckFailed : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// One trial's workload. Built and destroyed on the host thread with the machine current; what
/// workers share it allocates from the machine.
class Scenario {
  public:
    virtual ~Scenario() = default;

    /// Whether this trial has the phase at all (a batch search with batch 0 is left out).
    virtual bool has_phase(std::size_t /*phase*/) const { return true; }

    /// The body of a phase for one worker, run on the machine; returns its operations.
    /// Its state is on its stack or in the machine's memory.
    virtual std::uint64_t run(std::size_t phase, unsigned worker) = 0;

    /// After all workers have finished the phase, on the host thread, untimed.
    /// Throws CheckFailed with what did not hold.
    virtual void check(std::size_t /*phase*/) {}
};

using ScenarioFactory = std::unique_ptr<Scenario> (*)(const TrialSpec&);

/// A row of the registry (scenarios/registry.hpp).
struct ScenarioEntry {
    const ScenarioInfo* info;
    ScenarioFactory make_native;
    ScenarioFactory make_model;
};

}  // namespace abortscope
