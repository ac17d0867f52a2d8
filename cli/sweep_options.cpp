// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/value_list.hpp"
#include "machines/native/affinity.hpp"
#include "primitives/retry_policy.hpp"
#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"
#include "profiler/nearest.hpp"
#include "profiler/trial_runner.hpp"
#include "scenarios/registry.hpp"

namespace abortscope::cli {
namespace {

constexpr Range thread_range{1, 1024};
constexpr Range cpu_range{1, 4096};
constexpr Range repeat_range{1, 1'000'000};
constexpr Range job_range{1, 1024};
constexpr Range shape_range{1, 128};
constexpr double most_workers_per_cpu = 64;

std::vector<std::string_view> scenario_names() {
    std::vector<std::string_view> names;
    for (const ScenarioEntry& entry : scenarios()) names.push_back(entry.info->name);
    return names;
}

std::vector<std::string_view> policy_names() {
    std::vector<std::string_view> names;
    for (const RetryPolicy& policy : retry_policies) names.push_back(policy.name);
    return names;
}

std::vector<unsigned> unsigned_list(std::string_view option, const std::string& text, Range range) {
    std::vector<unsigned> numbers;
    for (const std::int64_t number : parse_integers(option, text, range)) {
        numbers.push_back(static_cast<unsigned>(number));
    }
    return numbers;
}

template <class Names>
std::vector<std::string> copied(const Names& names) {
    return std::vector<std::string>(names.begin(), names.end());
}

void append(std::vector<Trial>& all, std::vector<Trial> trials) {
    for (Trial& trial : trials) all.push_back(std::move(trial));
}

bool elides(std::string_view name) {
    const RetryPolicy* policy = find_policy(name);
    return policy != nullptr && policy->elides;
}

/// The scenario's first policy that elides, or the first of all.
std::string eliding_default(const ScenarioInfo& info) {
    for (const std::string_view name : info.default_policies) {
        if (elides(name)) return std::string(name);
    }
    const std::vector<std::string_view> all = policy_names();
    return std::string(*std::find_if(all.begin(), all.end(), elides));
}

/// The place of the parameter with that name or option.
std::optional<std::size_t> find_parameter(const ScenarioInfo& info, std::string_view name) {
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        const ParameterSpec& spec = info.parameters[i];
        if (spec.name == name || (!spec.option.empty() && spec.option == name)) return i;
    }
    return std::nullopt;
}

/// A parameter's option as several scenarios have it: "elements (ovs-hmap, ovs-cmap)".
struct SharedOption {
    std::string_view option;
    std::string_view help;
    std::string scenarios;
};

std::vector<SharedOption> parameter_options() {
    std::vector<SharedOption> options;
    for (const ScenarioEntry& entry : scenarios()) {
        for (const ParameterSpec& spec : entry.info->parameters) {
            if (spec.option.empty()) continue;
            const auto known = std::find_if(
                options.begin(), options.end(),
                [&](const SharedOption& option) { return option.option == spec.option; });
            if (known == options.end()) {
                options.push_back({spec.option, spec.help, std::string(entry.info->name)});
            } else {
                known->scenarios += ", " + std::string(entry.info->name);
            }
        }
    }
    return options;
}

}  // namespace

struct SweepOptions::Row {
    const char* name;
    const char* value;
    const char* help;
    std::string SweepOptions::*text;
};

const SweepOptions::Row SweepOptions::rows[] = {
    {"--machine", "LIST", "native, model:PRESET or model:FILE; default model:haswell",
     &SweepOptions::machine_},
    {"--sockets", "N", "sockets of a model machine; default the preset's", &SweepOptions::sockets_},
    {"--cores", "N", "cores per socket of a model machine; default the preset's",
     &SweepOptions::cores_},
    {"--smt", "N", "threads per core of a model machine; default the preset's",
     &SweepOptions::smt_},
    {"--lock", "LIST", "the locks under test; default the scenario's first", &SweepOptions::lock_},
    {"--policy", "LIST", "retry policies of the elided lock, none for the plain one",
     &SweepOptions::policy_},
    {"--threads", "LIST", "workers", &SweepOptions::threads_},
    {"--commit-ratio", "LIST", "workers for each CPU instead of --threads, such as 0.5,1,1.5",
     &SweepOptions::commit_ratio_},
    {"--cpus", "LIST", "CPUs that the workers may use; default all of the machine",
     &SweepOptions::cpus_},
    {"--seed", "N", "seed of the first repeat; repeat k has N + k; default 1",
     &SweepOptions::seed_},
    {"--repeat", "N", "times that each trial is run", &SweepOptions::repeat_},
    {"--jobs", "N", "trials of the model side by side; default the CPUs of this computer",
     &SweepOptions::jobs_},
    {"--shard", "K/N", "run the K-th of N shares of the sweep", &SweepOptions::shard_},
};

SweepOptions::SweepOptions(SweepDefaults defaults)
    : repeat_(fmt::format("{}", defaults.repeats)), defaults_(defaults) {}

void SweepOptions::declare(CLI::App& app) {
    app.add_option("SCENARIO", scenario_, "the workload; `abortscope list` shows them")
        ->type_name("");
    for (const Row& row : rows) {
        std::string help = row.help;
        if (row.text == &SweepOptions::repeat_) help += "; default " + repeat_;
        app.add_option(row.name, this->*row.text, help)->type_name(row.value);
    }
    // One value for each --set: a vector option would also take the words that follow.
    app.add_option("--set", set_, "any parameter of the scenario, by its name")
        ->type_name("NAME=LIST")
        ->allow_extra_args(false);
    for (const SharedOption& option : parameter_options()) {
        const std::string name(option.option);
        app.add_option("--" + name, by_option_[name],
                       fmt::format("{} ({})", option.help, option.scenarios))
            ->type_name("LIST")
            ->group("Parameters of the scenarios");
    }
}

const ScenarioEntry& SweepOptions::scenario() const {
    if (scenario_.empty()) throw UsageError("no scenario; `abortscope list` shows them");
    const ScenarioEntry* entry = find_scenario(scenario_);
    if (entry == nullptr) {
        const std::vector<std::string_view> names = scenario_names();
        throw UsageError(unknown_name("scenario", scenario_, names));
    }
    return *entry;
}

unsigned SweepOptions::jobs() const {
    if (jobs_.empty()) return static_cast<unsigned>(native::allowed_cpus().size());
    return static_cast<unsigned>(parse_integer("--jobs", jobs_, job_range));
}

std::vector<std::vector<std::int64_t>> SweepOptions::parameter_values(
    const ScenarioInfo& info) const {
    std::vector<std::vector<std::int64_t>> values(info.parameters.size());
    const auto assign = [&](std::size_t place, const std::string& option, std::string_view text) {
        if (!values[place].empty()) {
            throw UsageError(fmt::format("{} is given twice", info.parameters[place].name));
        }
        values[place] = parse_values(option, info.parameters[place], text);
    };
    for (const auto& [option, text] : by_option_) {
        if (text.empty()) continue;
        const std::optional<std::size_t> place = find_parameter(info, option);
        if (!place) throw UsageError(fmt::format("{} has no --{}", info.name, option));
        assign(*place, "--" + option, text);
    }
    for (const std::string& setting : set_) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos) {
            throw UsageError(fmt::format("--set takes NAME=LIST, not {}", in_quotes(setting)));
        }
        const std::string name = setting.substr(0, equals);
        const std::optional<std::size_t> place = find_parameter(info, name);
        if (!place) {
            std::vector<std::string_view> names;
            for (const ParameterSpec& spec : info.parameters) names.push_back(spec.name);
            throw UsageError(unknown_name(fmt::format("parameter of {}", info.name), name, names));
        }
        assign(*place, name, std::string_view(setting).substr(equals + 1));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].empty()) values[i] = {info.parameters[i].default_value};
    }
    return values;
}

std::vector<std::string> SweepOptions::locks_for(const ScenarioInfo& info) const {
    if (info.locks.empty()) {
        if (!lock_.empty()) throw UsageError(fmt::format("{} takes no lock", info.name));
        return {""};
    }
    if (lock_.empty()) return {std::string(info.locks.front())};
    return parse_names("--lock", fmt::format("lock of {}", info.name), lock_, info.locks);
}

std::vector<std::string> SweepOptions::policies_for(const ScenarioInfo& info,
                                                    const std::string& machine) {
    if (info.locks.empty()) {
        if (!policy_.empty()) throw UsageError(fmt::format("{} has no retry policy", info.name));
        return {""};
    }
    if (!policy_.empty()) return parse_names("--policy", "policy", policy_, policy_names());
    if (defaults_.policies == SweepDefaults::Policies::all) return copied(policy_names());
    if (defaults_.policies == SweepDefaults::Policies::one_that_elides) {
        return {eliding_default(info)};
    }
    std::vector<std::string> policies = copied(info.default_policies);
    const std::string reason = why_no_rtm(machine);
    if (reason.empty()) return policies;
    const std::size_t erased =
        std::erase_if(policies, [](const std::string& name) { return elides(name); });
    if (erased != 0) {
        if (policies.empty()) policies.emplace_back(no_elision.name);
        notes_.push_back(fmt::format("{}: only --policy none runs there", reason));
    }
    return policies;
}

std::vector<unsigned> SweepOptions::threads_for(const ScenarioInfo& info) const {
    return threads_.empty() ? std::vector<unsigned>{info.default_threads}
                            : unsigned_list("--threads", threads_, thread_range);
}

std::vector<unsigned> SweepOptions::committed_threads(unsigned cpus) const {
    constexpr std::string_view option = "--commit-ratio";
    if (!threads_.empty()) throw UsageError("--commit-ratio and --threads exclude each other");
    std::vector<unsigned> all;
    for (const double ratio : parse_ratios(option, commit_ratio_, most_workers_per_cpu)) {
        const auto threads = std::lround(ratio * cpus);
        if (threads < thread_range.minimum || threads > thread_range.maximum) {
            throw UsageError(fmt::format("{} {}: of {} CPUs that is {} workers; they are {} to {}",
                                         option, ratio, cpus, threads, thread_range.minimum,
                                         thread_range.maximum));
        }
        if (std::find(all.begin(), all.end(), threads) != all.end()) {
            throw UsageError(fmt::format("{} {}: two of them are {} workers on {} CPUs", option,
                                         in_quotes(commit_ratio_), threads, cpus));
        }
        all.push_back(static_cast<unsigned>(threads));
    }
    return all;
}

/// "+sockets=4+smt=1", from the options that were given.
std::string SweepOptions::overrides_for(const std::string& machine) const {
    std::string text;
    const std::pair<const char*, const std::string*> options[] = {
        {"sockets", &sockets_}, {"cores", &cores_}, {"smt", &smt_}};
    for (const auto& [name, value] : options) {
        if (value->empty()) continue;
        if (is_native(machine)) {
            throw UsageError(fmt::format("--{} is for model machines", name));
        }
        text += fmt::format("+{}={}", name,
                            parse_integer(fmt::format("--{}", name), *value, shape_range));
    }
    return text;
}

std::vector<Trial> SweepOptions::trials() {
    const ScenarioEntry& entry = scenario();
    const ScenarioInfo& info = *entry.info;

    SweepSpec sweep;
    sweep.scenario = &entry;
    sweep.values = parameter_values(info);
    sweep.locks = locks_for(info);
    if (!cpus_.empty()) sweep.cpus = unsigned_list("--cpus", cpus_, cpu_range);
    sweep.seed = parse_seed("--seed", seed_);
    sweep.repeats = static_cast<unsigned>(parse_integer("--repeat", repeat_, repeat_range));
    const Shard shard = parse_shard("--shard", shard_);

    std::vector<std::string> machines;
    const std::string typed = machine_.empty() ? std::string(machine_names().front()) : machine_;
    for (const std::string& machine : split_list("--machine", typed)) {
        machines.push_back(machine_named(machine + overrides_for(machine)));
    }
    const std::vector<unsigned> all_cpus = sweep.cpus;
    std::vector<Trial> all;
    for (const std::string& machine : machines) {
        sweep.machines = {machine};
        sweep.policies = policies_for(info, machine);
        if (commit_ratio_.empty()) {
            sweep.threads = threads_for(info);
            append(all, trials_of(sweep));
            continue;
        }
        for (const unsigned cpus : all_cpus) {
            sweep.cpus = {cpus};
            sweep.threads = committed_threads(cpus != 0 ? cpus : cpus_of(machine));
            append(all, trials_of(sweep));
        }
    }
    for (const Trial& trial : all) require_runnable(trial.spec);
    return shard_of(all, shard.number, shard.count);
}

}  // namespace abortscope::cli
