// SPDX-License-Identifier: Apache-2.0
//
// abortscope list: the scenarios with their parameters, the policies and the machines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "machines/model/preset.hpp"
#include "primitives/retry_policy.hpp"
#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"
#include "profiler/nearest.hpp"
#include "reports/output.hpp"
#include "reports/text_table.hpp"
#include "scenarios/registry.hpp"

namespace abortscope::cli {
namespace {

using Align = TextTable::Align;

std::string indented(const std::string& text) {
    std::string result = "  ";
    for (std::size_t i = 0; i < text.size(); ++i) {
        result += text[i];
        if (text[i] == '\n' && i + 1 < text.size()) result += "  ";
    }
    return result;
}

std::string scenario_list() {
    TextTable table({{"name", "", Align::left}, {"what it does", "", Align::left}});
    for (const ScenarioEntry& entry : scenarios()) {
        table.add({std::string(entry.info->name), std::string(entry.info->summary)});
    }
    return "Scenarios (`abortscope list NAME` shows one's parameters):\n" + indented(table.text());
}

std::string policy_list() {
    TextTable table({{"name", "", Align::left}, {"how it retries", "", Align::left}});
    for (const RetryPolicy& policy : retry_policies) {
        table.add({std::string(policy.name), std::string(policy.summary)});
    }
    return "Retry policies:\n" + indented(table.text());
}

std::string machine_list() {
    TextTable table({{"name", "", Align::left}, {"what it is", "", Align::left}});
    for (const std::string_view name : machine_names()) {
        const std::size_t colon = name.find(':');
        const model::Preset* preset =
            colon == std::string_view::npos ? nullptr : model::find_preset(name.substr(colon + 1));
        table.add({std::string(name), preset != nullptr ? preset->description : "this computer"});
    }
    return "Machines:\n" + indented(table.text());
}

std::string values_of(const ParameterSpec& spec) {
    if (!spec.words.empty()) return fmt::format("{}", fmt::join(spec.words, ", "));
    return fmt::format("{} to {}", spec.minimum, spec.maximum);
}

std::string default_of(const ParameterSpec& spec) {
    if (!spec.words.empty()) {
        return std::string(spec.words[static_cast<std::size_t>(spec.default_value)]);
    }
    return fmt::format("{}", spec.default_value);
}

std::string scenario_page(const ScenarioInfo& info) {
    std::string text = fmt::format("{}: {}\n", info.name, info.summary);
    if (!info.source.empty()) text += fmt::format("Source: {}\n", info.source);
    std::vector<std::string_view> phases;
    for (const PhaseSpec& phase : info.phases) phases.push_back(phase.name);
    text += fmt::format("\nPhases:   {}\n", fmt::join(phases, ", "));
    if (info.locks.empty()) {
        text += "Locks:    none: it starts transactions of its own\n";
    } else {
        text += fmt::format("Locks:    {}\nPolicies: {}\n", fmt::join(info.locks, ", "),
                            fmt::join(info.default_policies, ", "));
    }
    text += fmt::format("Threads:  {}\n", info.default_threads);
    if (info.parameters.empty()) return text;
    TextTable table({{"option", "", Align::left},
                     {"column", "", Align::left},
                     {"default", "", Align::right},
                     {"values", "", Align::left},
                     {"what it is", "", Align::left}});
    for (const ParameterSpec& spec : info.parameters) {
        table.add({spec.option.empty() ? fmt::format("--set {}=", spec.name)
                                       : fmt::format("--{}", spec.option),
                   std::string(spec.name), default_of(spec), values_of(spec),
                   std::string(spec.help)});
    }
    return text + "\nParameters:\n" + indented(table.text());
}

int list(const std::string& what) {
    Output output = Output::standard();
    if (what.empty()) {
        output.print(scenario_list() + '\n' + policy_list() + '\n' + machine_list());
    } else if (what == "scenarios") {
        output.print(scenario_list());
    } else if (what == "policies") {
        output.print(policy_list());
    } else if (what == "machines") {
        output.print(machine_list());
    } else if (const ScenarioEntry* entry = find_scenario(what)) {
        output.print(scenario_page(*entry->info));
    } else {
        std::vector<std::string_view> names{"scenarios", "policies", "machines"};
        for (const ScenarioEntry& each : scenarios()) names.push_back(each.info->name);
        throw UsageError(unknown_name("list", what, names));
    }
    return exit_code::done;
}

}  // namespace

Action declare_list(CLI::App& app) {
    auto what = std::make_shared<std::string>();
    app.add_option("WHAT", *what, "scenarios, policies, machines, or the name of a scenario")
        ->type_name("");
    return [what] { return list(*what); };
}

}  // namespace abortscope::cli
