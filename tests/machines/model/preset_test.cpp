// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>

#include "machines/model/preset_file.hpp"

namespace abortscope::model {
namespace {

using testing::HasSubstr;

std::string refusal_of(std::string_view text) {
    try {
        parse_preset(text, "mine.json");
    } catch (const PresetFileError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Preset, EveryBuiltInOneIsWithinTheBoundsOfItsFields) {
    for (const Preset& preset : presets()) {
        EXPECT_NO_THROW(check_preset(preset)) << preset.name;
        for (const PresetField& field : preset_fields()) {
            const std::uint32_t value = preset.*field.member;
            EXPECT_GE(value, field.minimum) << preset.name << " " << field.name;
            EXPECT_LE(value, field.maximum) << preset.name << " " << field.name;
            if (field.power_of_two) {
                EXPECT_TRUE(std::has_single_bit(value)) << preset.name << " " << field.name;
            }
        }
    }
}

TEST(Preset, EveryNumberOfAPresetIsAField) {
    // The struct is its three strings and one number a field, so a number without a field shows.
    EXPECT_EQ(
        sizeof(Preset),
        (3 * sizeof(std::string) + preset_fields().size() * sizeof(std::uint32_t) + 7) / 8 * 8);
}

TEST(Preset, EveryNumberHasASource) {
    for (const Preset& preset : presets()) {
        EXPECT_EQ(preset.built_in, preset.name);
        for (const PresetField& field : preset_fields()) {
            const std::string_view source = source_of(preset, field);
            EXPECT_FALSE(source.empty()) << preset.name << " " << field.name;
            EXPECT_NE(source, "your setting") << preset.name << " " << field.name;
        }
    }
    const auto source = [](const char* name, std::string_view wanted) {
        const Preset preset = resolve_preset(name);
        for (const PresetField& field : preset_fields()) {
            if (field.name == wanted) return std::string(source_of(preset, field));
        }
        return std::string();
    };
    EXPECT_EQ(source("sandybridge-2s", "frequency_mhz"), "assumed");
    EXPECT_EQ(source("skylake-sp", "rtm_read_tracking"), "assumed");
    EXPECT_EQ(source("icelake-sp", "rtm_read_tracking"), "assumed") << "as what it derives from";
    EXPECT_EQ(source("haswell", "rtm_read_tracking"), "Dice et al. 2015");
    EXPECT_EQ(source("haswell+memory_cycles=300", "memory_cycles"), "your setting");
    EXPECT_EQ(source("haswell+memory_cycles=300", "transfer_cycles"), "from memory");
}

TEST(Preset, PublishedCacheSizesComeOutOfSetsAndWays) {
    const auto kib = [](std::uint64_t sets, std::uint64_t ways) { return sets * ways * 64 / 1024; };
    const auto check = [&](const char* name, std::uint64_t l1, std::uint64_t l2, std::uint64_t l3) {
        const Preset& preset = *find_preset(name);
        EXPECT_EQ(kib(preset.l1_sets, preset.l1_ways), l1) << name;
        EXPECT_EQ(kib(preset.l2_sets, preset.l2_ways), l2) << name;
        EXPECT_EQ(kib(preset.l3_sets, preset.l3_ways), l3) << name;
    };
    check("haswell", 32, 256, 8 * 1024);
    check("broadwell-ep", 32, 256, 35 * 1024);
    check("skylake-sp", 32, 1024, 27 * 1024 + 512);
    check("cascadelake-sp", 32, 1024, 27 * 1024 + 512);
    check("icelake-sp", 48, 1280, 60 * 1024);
    check("sapphire-rapids", 48, 2048, 105 * 1024);
    check("sandybridge-2s", 32, 256, 20 * 1024);
    check("thunderx2", 32, 256, 28 * 1024);
    check("zen4", 32, 1024, 32 * 1024);
}

TEST(PresetFile, DerivesFromABuiltInOneFieldByField) {
    const Preset preset = parse_preset(
        R"({"derived_from": "skylake-sp", "sockets": 4, "description": "mine"})", "mine.json");
    EXPECT_EQ(preset.sockets, 4u);
    EXPECT_EQ(preset.description, "mine");
    EXPECT_EQ(preset.name, "mine.json");
    EXPECT_EQ(preset.l2_ways, find_preset("skylake-sp")->l2_ways);
}

TEST(PresetFile, EachMistakeIsRefusedWithFileFieldAndReason) {
    EXPECT_EQ(refusal_of("{"), "mine.json: not JSON (at byte 2)");
    EXPECT_EQ(refusal_of("[]"), "mine.json: must be one JSON object");
    EXPECT_EQ(refusal_of("{}"),
              "mine.json: field derived_from: missing: name the built-in preset to start from");
    EXPECT_EQ(refusal_of(R"({"derived_from": "alder-lake"})"),
              "mine.json: field derived_from: no preset 'alder-lake'");
    EXPECT_EQ(refusal_of(R"({"derived_from": "haswell", "l1_sets": 48})"),
              "mine.json: field l1_sets: must be a power of two, not 48");
    EXPECT_EQ(refusal_of(R"({"derived_from": "haswell", "memory_cycles": -5})"),
              "mine.json: field memory_cycles: must not be negative");
    EXPECT_EQ(refusal_of(R"({"derived_from": "haswell", "memory_cycles": 1.5})"),
              "mine.json: field memory_cycles: must be a whole number");
    EXPECT_EQ(refusal_of(R"({"derived_from": "haswell", "memory_cycles": "200"})"),
              "mine.json: field memory_cycles: must be a whole number");
    EXPECT_EQ(refusal_of(R"({"derived_from": "haswell", "sockets": 0})"),
              "mine.json: field sockets: must be from 1 to 8, not 0");
    EXPECT_EQ(refusal_of(R"({"derived_from": "haswell", "socket": 2})"),
              "mine.json: field socket: unknown");
    EXPECT_THAT(refusal_of(R"({"derived_from": "haswell", "sockets": 8,
                               "cores_per_socket": 128})"),
                HasSubstr("at most 512"));
    EXPECT_THAT(refusal_of(R"({"derived_from": "skylake-sp", "rtm_read_tracking": 3})"),
                HasSubstr("needs l3_inclusive 1"));
}

TEST(PresetFile, AFileThatIsNotThereIsNamed) {
    try {
        resolve_preset("./no/such.json");
        FAIL();
    } catch (const PresetFileError& error) {
        EXPECT_STREQ(error.what(), "./no/such.json: No such file or directory");
    }
}

TEST(PresetFile, ANameIsABuiltInPresetAndAnythingLikeAPathIsAFile) {
    EXPECT_EQ(resolve_preset("").name, "haswell");
    EXPECT_EQ(resolve_preset("zen4").name, "zen4");
    EXPECT_THROW(resolve_preset("zen5"), UnknownPreset);
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / "abortscope_preset_test.json";
    std::ofstream(path) << R"({"derived_from": "zen4", "frequency_mhz": 3000})";
    EXPECT_EQ(resolve_preset(path.string()).frequency_mhz, 3000u);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace abortscope::model
