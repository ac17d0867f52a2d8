// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine_names.hpp"

#include <fmt/format.h>

#include <vector>

#include "machines/model/preset_file.hpp"
#include "machines/native/affinity.hpp"
#include "machines/native/rtm_probe.hpp"
#include "profiler/errors.hpp"
#include "profiler/host/rtm_verdict.hpp"
#include "profiler/nearest.hpp"

namespace abortscope {
namespace {

constexpr std::string_view native_name = "native";
constexpr std::string_view model_name = "model";
constexpr std::string_view model_prefix = "model:";

}  // namespace

std::span<const std::string_view> machine_names() {
    static const std::vector<std::string> models = [] {
        std::vector<std::string> names;
        for (const model::Preset& preset : model::presets()) {
            names.push_back(std::string(model_prefix) + preset.name);
        }
        return names;
    }();
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> all(models.begin(), models.end());
        all.push_back(native_name);
        return all;
    }();
    return names;
}

std::string machine_named(std::string_view typed) {
    if (is_native(typed)) return std::string(typed);
    if (typed == model_name) return std::string(machine_names().front());
    if (typed.starts_with("model+")) {
        return machine_named(
            fmt::format("{}{}", machine_names().front(), typed.substr(model_name.size())));
    }
    preset_of(typed);
    return std::string(typed);
}

model::Preset preset_of(std::string_view machine) {
    if (machine.starts_with(model_prefix)) {
        try {
            return model::resolve_preset(machine.substr(model_prefix.size()));
        } catch (const model::PresetFileError& error) {
            throw IoError(error.what());
        } catch (const model::UnknownPreset&) {
        }
    }
    throw UsageError(unknown_name("machine", machine, machine_names()));
}

unsigned cpus_of(std::string_view machine) {
    if (is_native(machine)) return static_cast<unsigned>(native::allowed_cpus().size());
    return preset_of(machine).hardware_threads();
}

std::string why_no_rtm(std::string_view machine) {
    if (!is_native(machine)) {
        return preset_of(machine).rtm == 0 ? fmt::format("{} has no RTM", machine) : "";
    }
    if (native::rtm_commits()) return "";
    return judge_rtm(describe_host(), native::rtm_probe()).reason;
}

}  // namespace abortscope
