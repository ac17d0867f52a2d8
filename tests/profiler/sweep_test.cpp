// SPDX-License-Identifier: Apache-2.0
#include "profiler/sweep.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace abortscope {
namespace {

constexpr std::array<std::string_view, 2> layouts{"shared", "disjoint"};
constexpr std::array<ParameterSpec, 2> parameters{
    {{.name = "mutation_pct", .option = "mutation", .help = ""},
     {.name = "bytes", .option = "", .help = "", .words = layouts}}};
const ScenarioInfo info{.name = "map", .parameters = parameters};
const ScenarioEntry entry{&info, nullptr, nullptr};

SweepSpec sweep() {
    SweepSpec spec;
    spec.scenario = &entry;
    spec.machines = {"native"};
    spec.locks = {"mutex"};
    spec.threads = {1, 4};
    spec.values = {{2, 10}, {0}};
    spec.policies = {"none", "ovs2016"};
    spec.seed = 40;
    spec.repeats = 2;
    return spec;
}

TEST(Sweep, IsTheProductWithPoliciesOfALevelSideBySide) {
    std::string order;
    for (const Trial& trial : trials_of(sweep())) {
        order += fmt::format("{}/{}/{}/{} ", trial.spec.threads, trial.spec.values[0],
                             trial.spec.policy, trial.spec.seed);
    }
    EXPECT_EQ(order,
              "1/2/none/40 1/2/none/41 1/2/ovs2016/40 1/2/ovs2016/41 "
              "1/10/none/40 1/10/none/41 1/10/ovs2016/40 1/10/ovs2016/41 "
              "4/2/none/40 4/2/none/41 4/2/ovs2016/40 4/2/ovs2016/41 "
              "4/10/none/40 4/10/none/41 4/10/ovs2016/40 4/10/ovs2016/41 ");
}

TEST(Sweep, GivesRepeatKTheSeedPlusK) {
    for (const Trial& trial : trials_of(sweep())) {
        EXPECT_EQ(trial.spec.seed, 40 + trial.spec.repeat);
    }
}

TEST(Sweep, SplitsIntoDisjointSharesThatAreAllOfIt) {
    const std::vector<Trial> all = trials_of(sweep());
    std::multiset<std::string> whole;
    std::multiset<std::string> together;
    for (const Trial& trial : all) whole.insert(command_for(trial.spec));
    for (std::size_t number = 1; number <= 3; ++number) {
        const std::vector<Trial> share = shard_of(all, number, 3);
        EXPECT_GE(share.size(), 5u);
        for (const Trial& trial : share) together.insert(command_for(trial.spec));
    }
    EXPECT_EQ(together, whole);
    EXPECT_TRUE(shard_of(all, 100, 100).empty());
}

TEST(Sweep, NamesTheCommandThatRunsOneTrial) {
    SweepSpec spec = sweep();
    spec.cpus = {2};
    spec.values = {{5}, {1}};
    EXPECT_EQ(command_for(trials_of(spec).front().spec),
              "abortscope run map --machine native --lock mutex --policy none --threads 1 --cpus 2 "
              "--mutation 5 --set bytes=disjoint --seed 40");
}

TEST(Sweep, NamesNoLockAndNoPolicyWhereThereIsNone) {
    SweepSpec spec = sweep();
    spec.locks = {""};
    spec.policies = {""};
    EXPECT_EQ(command_for(trials_of(spec).front().spec),
              "abortscope run map --machine native --threads 1 --mutation 2 --set bytes=shared "
              "--seed 40");
}

}  // namespace
}  // namespace abortscope
