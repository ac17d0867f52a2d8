// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "profiler/trial_runner.hpp"
#include "scenarios/registry.hpp"
#include "tests/scenarios/trial.hpp"

namespace abortscope {
namespace {

class OvsHmapOnTheModel : public OnTheModel {};
class OvsCmapOnTheModel : public OnTheModel {};

TEST(OvsHmap, EveryWorkerSearchesEveryKey) {
    const auto outcome = run_native(spec_of("ovs-hmap", 4, {{"n", 3000}, {"mutation_pct", 10}}));
    ASSERT_EQ(outcome.phases.size(), 4u);
    EXPECT_EQ(outcome.phase("insert").total(), 3000u);
    EXPECT_EQ(outcome.phase("iterate").total(), 3000u);
    EXPECT_EQ(outcome.phase("search").total(), 4u * 3000u);
}

TEST(OvsHmap, ThePaddedCountChangesNothingButTheLayout) {
    const Changes changes{{"n", 3000}, {"mutation_pct", 10}};
    Changes padded = changes;
    padded["padded_count"] = 1;
    const auto outcome = run_native(spec_of("ovs-hmap", 1, changes));
    EXPECT_EQ(outcome.phase("destroy").total(),
              run_native(spec_of("ovs-hmap", 1, padded)).phase("destroy").total());
    EXPECT_LT(outcome.phase("destroy").total(), 3000u);
}

TEST(OvsHmap, WithoutMutationNobodyTakesTheLock) {
    const TrialSpec spec = spec_of("ovs-hmap", 2, {{"n", 500}, {"mutation_pct", 0}});
    const auto outcome = run_native(spec);
    EXPECT_EQ(outcome.phase("destroy").total(), 500u);
    EXPECT_EQ(outcome.sum(&AbortLog::acquisitions), 0u);
}

TEST_F(OvsHmapOnTheModel, WithoutMutationNobodyStartsATransaction) {
    const TrialSpec spec = spec_of("ovs-hmap", 2, {{"n", 500}, {"mutation_pct", 0}});
    EXPECT_EQ(run_model(with_policy(spec, "ovs2016")).sum(&AbortLog::attempts), 0u);
}

TEST(OvsHmap, AtFullMutationNothingIsLeftToDestroy) {
    const auto outcome = run_native(spec_of("ovs-hmap", 2, {{"n", 500}, {"mutation_pct", 100}}));
    EXPECT_EQ(outcome.phase("destroy").total(), 0u);
}

TEST_F(OvsHmapOnTheModel, TheSearchAloneUsesTransactions) {
    const TrialSpec spec =
        with_policy(spec_of("ovs-hmap", 4, {{"n", 3000}, {"mutation_pct", 10}}), "ovs2016");
    const auto plain = run_model(with_policy(spec, "none"));
    const auto elided = run_model(spec);
    EXPECT_EQ(plain.phase("insert").duration_ns, elided.phase("insert").duration_ns);
    EXPECT_EQ(plain.phase("iterate").duration_ns, elided.phase("iterate").duration_ns);
    EXPECT_LT(elided.phase("search").duration_ns, plain.phase("search").duration_ns);
}

TEST(OvsCmap, RunsTheBatchedBlockFirst) {
    const auto outcome =
        run_native(spec_of("ovs-cmap", 3, {{"n", 3000}, {"mutation_pct", 10}, {"batch", 8}}));
    ASSERT_EQ(outcome.phases.size(), 8u);
    EXPECT_EQ(outcome.phases[0].name, "batch_insert");
    EXPECT_EQ(outcome.phase("batch_search").total(), 3u * 3000u);
    EXPECT_EQ(outcome.phase("search").total(), 3u * 3000u);
    EXPECT_LT(outcome.phase("batch_destroy").total(), 3000u);
    EXPECT_EQ(outcome.phase("iterate").total(), 3000u);
}

TEST(OvsCmap, BatchZeroLeavesTheBatchedBlockOut) {
    const auto outcome = run_native(spec_of("ovs-cmap", 2, {{"n", 500}, {"batch", 0}}));
    ASSERT_EQ(outcome.phases.size(), 4u);
    EXPECT_EQ(outcome.phases[0].name, "insert");
}

TEST(OvsCmap, TakesItsMutexOncePerMutation) {
    const auto outcome =
        run_native(spec_of("ovs-cmap", 2, {{"n", 20000}, {"mutation_pct", 10}, {"batch", 0}}));
    // 40,000 draws at 10 %: 4,000 expected, standard deviation 60.
    EXPECT_NEAR(static_cast<double>(outcome.sum(&AbortLog::acquisitions)), 4000, 6 * 60);
}

TEST(OvsCmap, AtFullMutationTheMapEmptiesAndHalvesUnderItsReaders) {
    const TrialSpec spec = spec_of("ovs-cmap", 4, {{"n", 3000}, {"mutation_pct", 100}});
    const auto outcome = run_native(spec);
    ASSERT_EQ(outcome.phases.size(), 4u) << "a batch would never get past its first key";
    EXPECT_EQ(outcome.phase("destroy").total(), 0u);
}

TEST_F(OvsCmapOnTheModel, AtFullMutationTheMapEmptiesAndHalvesUnderItsReaders) {
    const TrialSpec spec = spec_of("ovs-cmap", 4, {{"n", 3000}, {"mutation_pct", 100}});
    EXPECT_EQ(run_model(with_policy(spec, "ovs2016")).phase("destroy").total(), 0u);
}

// A removal writes the count on the line that all others, in transactions or not, load the mask
// from.
TEST_F(OvsCmapOnTheModel, ItsElidedRemovalsMeetOnTheLineOfTheCount) {
    const TrialSpec spec =
        with_policy(spec_of("ovs-cmap", 4, {{"n", 5000}, {"mutation_pct", 5}}), "ovs2016");
    const TrialResult result = run_trial(*find_scenario("ovs-cmap"), spec);
    ASSERT_FALSE(result.hot_lines.empty());
    const HotLine& worst = result.hot_lines.front();
    EXPECT_EQ(worst.object, "cmap.n");
    std::uint64_t aborts = 0;
    for (const Measurement& row : result.rows) aborts += row.log->aborts();
    EXPECT_GT(worst.aborts * 2, aborts);
    EXPECT_GT(worst.false_sharing * 10, worst.aborts * 8);  // they had not touched the count
    EXPECT_GT(worst.from_outside, 0u);  // look-ups without a transaction end removals, too
}

}  // namespace
}  // namespace abortscope
