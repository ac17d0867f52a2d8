// SPDX-License-Identifier: Apache-2.0
#include "studies/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "profiler/errors.hpp"
#include "reports/hot_lines_table.hpp"
#include "scenarios/registry.hpp"

namespace abortscope {
namespace {

using testing::HasSubstr;

TrialSpec small_trial(std::string_view scenario, std::int64_t n, std::int64_t mutation) {
    const ScenarioEntry* entry = find_scenario(scenario);
    TrialSpec spec;
    spec.scenario = entry->info;
    spec.lock = entry->info->locks.front();
    spec.policy = "ovs2016";
    for (const ParameterSpec& parameter : entry->info->parameters) {
        spec.values.push_back(parameter.name == "n"              ? n
                              : parameter.name == "mutation_pct" ? mutation
                                                                 : parameter.default_value);
    }
    return spec;
}

TEST(HotLines, TheCountBesideTheMaskIsTheHottestDataLineOfTheMap) {
    const TrialSpec spec = small_trial("ovs-hmap", 5000, 5);
    const TrialResult result = run_trial(*find_scenario("ovs-hmap"), spec);
    ASSERT_FALSE(result.hot_lines.empty());
    const HotLine& worst = result.hot_lines.front();
    EXPECT_EQ(worst.object, "hmap.n");
    EXPECT_FALSE(worst.is_lock);
    EXPECT_EQ(kind_of(worst), "false sharing: pad");
    // Every worker reads the mask and every worker writes the count.
    EXPECT_EQ(worst.uses.size(), 4u);
    EXPECT_THAT(uses_of(worst), HasSubstr("written 24-31 by 0-3"));
}

TEST(HotLines, TheFieldsOfALineAreNamedWithWhoUsedThem) {
    const TrialResult result =
        run_trial(*find_scenario("ovs-hmap"), small_trial("ovs-hmap", 5000, 5));
    const std::vector<LineField>& fields = result.hot_lines.front().fields;
    ASSERT_EQ(fields.size(), 3u);
    EXPECT_EQ(fields[0].object, "hmap.buckets");
    EXPECT_EQ(fields[1].object, "hmap.mask");
    EXPECT_EQ(fields[1].bytes, 0xff0000u);
    EXPECT_TRUE(fields[1].writers.empty());
    EXPECT_EQ(fields[1].readers.size(), 4u);
    EXPECT_EQ(fields[2].object, "hmap.n");
    EXPECT_EQ(fields[2].writers.size(), 4u);
}

TEST(HotLines, MovingTheCountOffTheLineTakesItsAbortsAway) {
    const ScenarioEntry& entry = *find_scenario("ovs-hmap");
    const auto aborts_with = [&](std::int64_t padded) {
        TrialSpec spec = small_trial("ovs-hmap", 5000, 5);
        for (std::size_t i = 0; i < spec.values.size(); ++i) {
            if (spec.scenario->parameters[i].name == "padded_count") spec.values[i] = padded;
        }
        const TrialResult result = run_trial(entry, spec);
        std::uint64_t on_the_line = 0;
        std::uint64_t all = 0;
        for (const HotLine& line : result.hot_lines) {
            if (line.object == "hmap.n") on_the_line += line.aborts;
        }
        for (const Measurement& row : result.rows) all += row.log->aborts();
        return std::pair(on_the_line, all);
    };
    const auto [beside, all_beside] = aborts_with(0);
    const auto [apart, all_apart] = aborts_with(1);
    EXPECT_LT(apart * 10, beside);
    EXPECT_LT(all_apart * 2, all_beside);  // the rest: workers that pass the same buckets in step
}

TEST(HotLines, BytesOfAMaskAreRanges) {
    EXPECT_EQ(byte_ranges(0), "");
    EXPECT_EQ(byte_ranges(1), "0");
    EXPECT_EQ(byte_ranges(0xff000000000000ff), "0-7,56-63");
    EXPECT_EQ(byte_ranges(0x15), "0,2,4");
}

TEST(Replay, ShowsTheSameAbortEveryTimeWithTheAccessThatCausedItLast) {
    const TrialSpec spec = small_trial("ovs-hmap", 3000, 10);
    const ScenarioEntry& entry = *find_scenario("ovs-hmap");
    const Replay first = replay_abort(entry, spec, 20, 8);
    EXPECT_EQ(text_of(first), text_of(replay_abort(entry, spec, 20, 8)));
    EXPECT_EQ(first.number, 20u);
    ASSERT_TRUE(first.killer.has_value());
    EXPECT_NE(*first.killer, first.victim);
    ASSERT_FALSE(first.accesses.empty());
    const ReplayedAccess& last = first.accesses.back();
    EXPECT_EQ(last.cycles_before, 0);
    EXPECT_EQ(last.worker, *first.killer);
    EXPECT_TRUE(last.on_line);
}

TEST(Replay, WatchingATrialChangesNothing) {
    const TrialSpec spec = small_trial("ovs-hmap", 3000, 10);
    const ScenarioEntry& entry = *find_scenario("ovs-hmap");
    std::uint64_t aborts = 0;
    for (const Measurement& row : run_trial(entry, spec).rows) aborts += row.log->aborts();
    EXPECT_EQ(replay_abort(entry, spec, 1, 4).aborts, aborts);
}

TEST(Replay, AnAbortThatTheTrialDoesNotHaveIsAUsageError) {
    const TrialSpec spec = small_trial("ovs-hmap", 500, 5);
    EXPECT_THROW(replay_abort(*find_scenario("ovs-hmap"), spec, 1'000'000, 4), UsageError);
    TrialSpec native = spec;
    native.machine = "native";
    EXPECT_THROW(replay_abort(*find_scenario("ovs-hmap"), native, 1, 4), UsageError);
}

// The rollback audit: whatever aborts whenever, the oracles of the scenarios hold.
TEST(RollbackAudit, TheMapsLoseNothingUnderInjectedAbortsOnFiftySeeds) {
    for (const char* scenario : {"ovs-hmap", "ovs-cmap"}) {
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            TrialSpec spec = small_trial(scenario, 300, 20);
            spec.seed = seed;
            TrialOptions options;
            // From rare to nine of ten accesses.
            options.injected_aborts_ppm = static_cast<std::uint32_t>(1000 + seed * 17'980);
            EXPECT_NO_THROW(run_trial(*find_scenario(scenario), spec, options))
                << scenario << " seed " << seed;
        }
    }
}

}  // namespace
}  // namespace abortscope
