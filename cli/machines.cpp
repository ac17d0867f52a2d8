// SPDX-License-Identifier: Apache-2.0
//
// abortscope machines: the machines, or every number of one.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "machines/model/preset_file.hpp"
#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"
#include "reports/output.hpp"
#include "reports/text_table.hpp"

namespace abortscope::cli {
namespace {

using Align = TextTable::Align;

std::string all_machines() {
    TextTable table({{"machine", "", Align::left},
                     {"CPUs", ""},
                     {"RTM", "", Align::left},
                     {"what it is", "", Align::left}});
    for (const model::Preset& preset : model::presets()) {
        table.add({"model:" + preset.name, fmt::format("{}", preset.hardware_threads()),
                   preset.rtm != 0 ? "yes" : "no", preset.description});
    }
    table.add({"native", "", "ask doctor", "this computer"});
    return table.text() +
           "\n`abortscope machines NAME` shows every number of one; a JSON file makes one of your "
           "own\n(--machine model:./mine.json, docs/model.md).\n";
}

std::string one_machine(const model::Preset& preset) {
    TextTable table({{"field", "", Align::left},
                     {"value", ""},
                     {"source", "", Align::left},
                     {"what it is", "", Align::left}});
    for (const model::PresetField& field : model::preset_fields()) {
        table.add({std::string(field.name), fmt::format("{}", preset.*field.member),
                   std::string(model::source_of(preset, field)), std::string(field.help)});
    }
    return fmt::format("{}: {}\n\n{}", preset.name, preset.description, table.text());
}

int show(const std::string& name) {
    Output output = Output::standard();
    if (name.empty()) {
        output.print(all_machines());
    } else if (is_native(name)) {
        throw UsageError("native is this computer: `abortscope doctor` describes it");
    } else {
        const bool prefixed = name.starts_with("model:");
        output.print(one_machine(preset_of(prefixed ? name : "model:" + name)));
    }
    return exit_code::done;
}

}  // namespace

Action declare_machines(CLI::App& app) {
    auto name = std::make_shared<std::string>();
    app.add_option("NAME", *name, "a preset, or the path of a preset file")->type_name("");
    return [name] { return show(*name); };
}

}  // namespace abortscope::cli
