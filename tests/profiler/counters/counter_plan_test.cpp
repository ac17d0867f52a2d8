// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using tests::all_counters;
using tests::host;

CounterPlan plan_on(const std::string& name, const PlanOptions& options = {}) {
    const RecordedHost recorded = host(name);
    return plan_counters(all_counters(), recorded.description, tests::verdict(recorded), options);
}

std::size_t general_events(const CounterPass& pass) {
    return static_cast<std::size_t>(
        std::count_if(pass.hardware.begin(), pass.hardware.end(),
                      [](const EventRequest& event) { return event.general_counters != 0; }));
}

std::size_t largest_pass(const CounterPlan& plan) {
    std::size_t most = 0;
    for (const CounterPass& pass : plan.passes) most = std::max(most, general_events(pass));
    return most;
}

const std::string& reason(const CounterPlan& plan, Counter counter) {
    return plan.absent_reasons[index_of(counter)];
}

// Acceptance case A3.
TEST(CounterPlan, UnderTsxForceAbortAPassNeverHasAFourthCounter) {
    const CounterPlan plan = plan_on("skylake-sp-force-abort");
    EXPECT_EQ(largest_pass(plan), 3u);
    EXPECT_EQ(plan.passes.size(), 4u);
    EXPECT_THAT(plan.describe(), HasSubstr("3 of 4 general counters usable"));
    EXPECT_THAT(plan.describe(), HasSubstr("a fourth would make every transaction abort"));
    for (const CounterPass& pass : plan.passes) {
        for (const EventRequest& event : pass.hardware) {
            if (event.counter == Counter::cycles_ct) {
                EXPECT_EQ(event.general_counters, 0b100u);
            }
        }
    }
}

TEST(CounterPlan, ForceAbortCanBeAllowedUnlessTheKernelWithholdsTheCounter) {
    EXPECT_EQ(largest_pass(plan_on("skylake-sp-force-abort", {.allow_force_abort = true})), 4u);

    RecordedHost withheld = host("skylake-sp-force-abort");
    for (PmuFacts& pmu : withheld.description.pmus) {
        if (pmu.name == "cpu") pmu.allow_tsx_force_abort = false;
    }
    const CounterPlan plan = plan_counters(all_counters(), withheld.description,
                                           tests::verdict(withheld), {.allow_force_abort = true});
    EXPECT_EQ(largest_pass(plan), 3u);
    EXPECT_THAT(plan.describe(), HasSubstr("withholds counter 3"));
}

TEST(CounterPlan, WithoutForceAbortAllFourAreUsed) {
    const CounterPlan plan = plan_on("broadwell-nmi-watchdog");
    EXPECT_EQ(plan.usable_counters, 4u);
    EXPECT_EQ(plan.budget_reason, "");
    EXPECT_EQ(largest_pass(plan), 4u);
}

TEST(CounterPlan, TheOutcomesStayTogetherAndSoDoTheCycles) {
    for (const char* name :
         {"skylake-sp-force-abort", "broadwell-nmi-watchdog", "sapphire-rapids"}) {
        const CounterPlan plan = plan_on(name);
        EXPECT_EQ(plan.pass_of(Counter::tx_start), 0u) << name;
        EXPECT_EQ(plan.pass_of(Counter::tx_commit), 0u) << name;
        EXPECT_EQ(plan.pass_of(Counter::tx_abort), 0u) << name;
        EXPECT_EQ(plan.pass_of(Counter::cycles_t), plan.pass_of(Counter::cycles)) << name;
        EXPECT_EQ(plan.pass_of(Counter::cycles_t), plan.pass_of(Counter::cycles_ct)) << name;
    }
}

TEST(CounterPlan, EightCountersNeedTwoPasses) {
    const CounterPlan plan = plan_on("sapphire-rapids");
    EXPECT_EQ(plan.passes.size(), 2u);
    EXPECT_THAT(plan.describe(), HasSubstr("8 of 8 general counters usable"));
    EXPECT_THAT(plan.describe(), HasSubstr("pass 2 of 2:"));
}

TEST(CounterPlan, EveryEventOfAPassCanHaveACounterOfItsOwn) {
    // Three TX_MEM events and cycles_ct want counters 0-3, the last one counter 2: with five others
    // they fill a pass of eight only if none of the five takes one of these.
    for (unsigned most = 1; most <= 8; ++most) {
        const CounterPlan plan = plan_on("sapphire-rapids", {.most_per_pass = most});
        EXPECT_LE(largest_pass(plan), most);
        for (const CounterPass& pass : plan.passes) {
            std::vector<std::uint32_t> masks;
            for (const EventRequest& event : pass.hardware) {
                if (event.general_counters != 0) masks.push_back(event.general_counters);
            }
            // Hall's condition, by trying every assignment through permutations of the counters.
            std::vector<unsigned> counters{0, 1, 2, 3, 4, 5, 6, 7};
            bool possible = masks.empty();
            while (!possible) {
                possible = true;
                for (std::size_t i = 0; i < masks.size(); ++i) {
                    possible = possible && (masks[i] >> counters[i] & 1u) != 0;
                }
                if (!possible && !std::next_permutation(counters.begin(), counters.end())) break;
            }
            EXPECT_TRUE(possible) << plan.describe();
        }
    }
}

TEST(CounterPlan, TheNmiWatchdogCostsTheFixedCounterOfCycles) {
    const auto cycles_of = [](const CounterPlan& plan) {
        for (const CounterPass& pass : plan.passes) {
            for (const EventRequest& event : pass.hardware) {
                if (event.counter == Counter::cycles) return event.general_counters;
            }
        }
        ADD_FAILURE() << "no cycles";
        return 0u;
    };
    EXPECT_EQ(cycles_of(plan_on("broadwell-nmi-watchdog")), 0b1111u);
    EXPECT_EQ(cycles_of(plan_on("sapphire-rapids")), 0u);
}

TEST(CounterPlan, WhereRtmDoesNotWorkTheCountersSayWhyInsteadOfCountingZero) {
    const CounterPlan plan = plan_on("icelake-sp-tsx-default-off");
    EXPECT_THAT(reason(plan, Counter::tx_start), HasSubstr("the kernel turned RTM off"));
    EXPECT_EQ(plan.pass_of(Counter::tx_start), std::nullopt);
    EXPECT_TRUE(plan.pass_of(Counter::cycles).has_value());
    EXPECT_TRUE(plan.pass_of(Counter::page_faults).has_value());
}

TEST(CounterPlan, CountersThatACpuLacksSaySo) {
    const CounterPlan skx = plan_on("skylake-sp-force-abort");
    EXPECT_THAT(reason(skx, Counter::tx_capacity_read), HasSubstr("Skylake-SP has no event"));
    EXPECT_EQ(reason(skx, Counter::tx_capacity), "");
    const CounterPlan spr = plan_on("sapphire-rapids");
    EXPECT_THAT(reason(spr, Counter::abort_timer), HasSubstr("Sapphire Rapids has no event"));
    EXPECT_EQ(reason(spr, Counter::tx_capacity_read), "");
}

// Acceptance case A17.
TEST(CounterPlan, GraniteRapidsIsCountedWithoutLibpfm) {
    const CounterPlan plan = plan_on("granite-rapids");
    EXPECT_EQ(plan.pass_of(Counter::tx_start), 0u);
    EXPECT_TRUE(plan.pass_of(Counter::tx_capacity_write).has_value());
}

TEST(CounterPlan, InTxIsNeverAskedForWhereTheKernelDoesNotOfferIt) {
    RecordedHost old = host("sapphire-rapids");
    for (PmuFacts& pmu : old.description.pmus) pmu.format_in_tx = false;
    const CounterPlan plan = plan_counters(all_counters(), old.description, tests::verdict(old));
    EXPECT_THAT(reason(plan, Counter::cycles_t), HasSubstr("format/in_tx is missing"));
    EXPECT_THAT(reason(plan, Counter::cycles_ct), HasSubstr("count all cycles"));
    for (const CounterPass& pass : plan.passes) {
        for (const EventRequest& event : pass.hardware) {
            EXPECT_EQ(event.config >> 32, 0u) << name_of(event.counter);
        }
    }
}

TEST(CounterPlan, AHybridCpusCyclesAreOneNumberOnlyOnOneKindOfCore) {
    RecordedHost hybrid = host("alder-lake-hybrid");
    EXPECT_THAT(reason(plan_on("alder-lake-hybrid"), Counter::cycles), HasSubstr("hybrid"));
    hybrid.description.process.allowed_cpus = {0, 1, 2, 3};
    const CounterPlan pinned =
        plan_counters(all_counters(), hybrid.description, tests::verdict(hybrid));
    EXPECT_EQ(pinned.passes.at(pinned.pass_of(Counter::cycles).value()).hardware.front().pmu,
              "cpu_core");
}

TEST(CounterPlan, ASmallVirtualPmuSaysWhatItCannotCount) {
    RecordedHost small = host("vm-pmu-counts-nothing");
    small.description.cpu.general_counters = 2;
    const CounterPlan plan =
        plan_counters(all_counters(), small.description, tests::verdict(small));
    EXPECT_THAT(reason(plan, Counter::cycles_ct), HasSubstr("none of the 2 general counters"));
    EXPECT_LE(largest_pass(plan), 2u);
}

TEST(CounterPlan, WhatWasNotAskedForIsAbsentForThatReason) {
    const RecordedHost spr = host("sapphire-rapids");
    const std::vector<Counter> asked{Counter::tx_start, Counter::page_faults};
    const CounterPlan plan = plan_counters(asked, spr.description, tests::verdict(spr));
    EXPECT_EQ(plan.passes.size(), 1u);
    EXPECT_EQ(plan.passes.front().hardware.size(), 1u);
    EXPECT_EQ(reason(plan, Counter::tx_abort), "not asked for");
}

TEST(CounterPlan, ThereIsAlwaysAPassEvenWithNothingToCount) {
    const RecordedHost amd = host("amd-epyc");
    const std::vector<Counter> asked{Counter::tx_start};
    const CounterPlan plan = plan_counters(asked, amd.description, tests::verdict(amd));
    ASSERT_EQ(plan.passes.size(), 1u);
    EXPECT_TRUE(plan.passes.front().hardware.empty());
}

}  // namespace
}  // namespace abortscope
