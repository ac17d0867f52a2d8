// SPDX-License-Identifier: Apache-2.0
#include "machines/model/preset_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "machines/model/member_set.hpp"

namespace abortscope::model {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& path, std::string_view field, std::string_view why) {
    throw PresetFileError(field.empty() ? fmt::format("{}: {}", path, why)
                                        : fmt::format("{}: field {}: {}", path, field, why));
}

const PresetField* find_field(std::string_view name) {
    for (const PresetField& field : preset_fields()) {
        if (field.name == name) return &field;
    }
    return nullptr;
}

void set_number(Preset& preset, const PresetField& field, const json& value,
                const std::string& path) {
    if (!value.is_number_integer() && !value.is_number_unsigned()) {
        refuse(path, field.name, "must be a whole number");
    }
    // A negative number is not unsigned to the parser; anything else that is too large is below.
    if (!value.is_number_unsigned()) refuse(path, field.name, "must not be negative");
    const auto number = value.get<std::uint64_t>();
    if (number < field.minimum || number > field.maximum) {
        refuse(path, field.name,
               fmt::format("must be from {} to {}, not {}", field.minimum, field.maximum, number));
    }
    if (field.power_of_two && !std::has_single_bit(number)) {
        refuse(path, field.name, fmt::format("must be a power of two, not {}", number));
    }
    preset.*field.member = static_cast<std::uint32_t>(number);
}

std::string text_of(const json& value, std::string_view field, const std::string& path) {
    if (!value.is_string()) refuse(path, field, "must be a string");
    return value.get<std::string>();
}

}  // namespace

void check_preset(const Preset& preset) {
    if (preset.hardware_threads() > max_members) {
        throw std::invalid_argument(
            fmt::format("sockets x cores_per_socket x threads_per_core is {}, at most {}",
                        preset.hardware_threads(), max_members));
    }
    if (preset.rtm != 0 && preset.l3_inclusive == 0 &&
        preset.rtm_read_tracking == static_cast<std::uint32_t>(ReadTracking::l3)) {
        throw std::invalid_argument(
            "rtm_read_tracking 3 needs l3_inclusive 1: an L3 that does not include the private "
            "caches cannot watch their lines");
    }
}

Preset parse_preset(std::string_view text, const std::string& path) {
    json document;
    try {
        document = json::parse(text);
    } catch (const json::parse_error& error) {
        refuse(path, "", fmt::format("not JSON (at byte {})", error.byte));
    }
    if (!document.is_object()) refuse(path, "", "must be one JSON object");
    if (!document.contains("derived_from")) {
        refuse(path, "derived_from", "missing: name the built-in preset to start from");
    }
    const std::string base = text_of(document["derived_from"], "derived_from", path);
    const Preset* found = find_preset(base);
    if (found == nullptr) refuse(path, "derived_from", fmt::format("no preset '{}'", base));

    Preset preset = *found;
    preset.name = path;
    preset.description = fmt::format("{}, derived from {}", path, base);
    for (const auto& [key, value] : document.items()) {
        if (key == "derived_from") continue;
        if (key == "description") {
            preset.description = text_of(value, key, path);
            continue;
        }
        const PresetField* field = find_field(key);
        if (field == nullptr) refuse(path, key, "unknown");
        set_number(preset, *field, value, path);
    }
    try {
        check_preset(preset);
    } catch (const std::invalid_argument& error) {
        refuse(path, "", error.what());
    }
    return preset;
}

Preset read_preset_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) refuse(path, "", std::strerror(errno));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (file.bad() || text.empty()) refuse(path, "", "empty or unreadable");
    return parse_preset(text, path);
}

namespace {

constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"cores", "cores_per_socket"}, {"smt", "threads_per_core"}};

/// Applies "+sockets=2+smt=1"; `name` is the whole for messages.
void apply_overrides(Preset& preset, std::string_view text, const std::string& name) {
    while (!text.empty()) {
        text.remove_prefix(1);  // the plus sign
        const std::string_view setting = text.substr(0, text.find('+'));
        text.remove_prefix(setting.size());
        const std::size_t equals = setting.find('=');
        const std::string_view key = setting.substr(0, equals);
        const PresetField* field = find_field(key);
        for (const auto& [brief, full] : short_names) {
            if (brief == key) field = find_field(full);
        }
        if (field == nullptr || equals == std::string_view::npos) {
            refuse(name, "", fmt::format("+{}: after + comes FIELD=N, cores=N or smt=N", setting));
        }
        const json value = json::parse(setting.substr(equals + 1), nullptr, false);
        set_number(preset, *field, value, name);
    }
    try {
        check_preset(preset);
    } catch (const std::invalid_argument& error) {
        refuse(name, "", error.what());
    }
    preset.name = name;
}

}  // namespace

Preset resolve_preset(std::string_view whole) {
    const std::string_view name = whole.substr(0, whole.find('+'));
    if (name.size() != whole.size()) {
        Preset preset = resolve_preset(name);
        apply_overrides(preset, whole.substr(name.size()), std::string(whole));
        return preset;
    }
    if (name.find('/') != std::string_view::npos || name.ends_with(".json")) {
        return read_preset_file(std::string(name));
    }
    const Preset* found = name.empty() ? &presets().front() : find_preset(name);
    if (found == nullptr) throw UnknownPreset(fmt::format("no preset '{}'", name));
    return *found;
}

}  // namespace abortscope::model
