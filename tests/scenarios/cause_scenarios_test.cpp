// SPDX-License-Identifier: Apache-2.0
//
// Each scenario that isolates a cause gives that cause and, the timer aside, no other above 1 %, on
// every preset with RTM; and turning its parameter back makes the aborts go away.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machines/model/preset.hpp"
#include "machines/native/native_machine.hpp"
#include "profiler/errors.hpp"
#include "profiler/trial_runner.hpp"
#include "tests/scenarios/trial.hpp"

namespace abortscope {
namespace {

std::vector<model::Preset> presets_with_rtm() {
    std::vector<model::Preset> result;
    for (const model::Preset& preset : model::presets()) {
        if (preset.rtm != 0) result.push_back(preset);
    }
    return result;
}

/// The index of a parameter's word.
std::int64_t word(std::string_view scenario, std::string_view parameter, std::string_view value) {
    for (const ParameterSpec& spec : find_scenario(scenario)->info->parameters) {
        for (std::size_t i = 0; spec.name == parameter && i < spec.words.size(); ++i) {
            if (spec.words[i] == value) return static_cast<std::int64_t>(i);
        }
    }
    throw std::out_of_range(std::string(value));
}

class CauseScenarios : public OnTheModel, public ::testing::WithParamInterface<model::Preset> {
  protected:
    TrialOutcome run(std::string_view scenario, const Changes& changes = {},
                     std::string_view policy = "none", unsigned threads = 0) {
        const unsigned workers =
            threads != 0 ? threads : find_scenario(scenario)->info->default_threads;
        return run_model(with_policy(spec_of(scenario, workers, changes), policy),
                         ModelSetting::quiet(GetParam()));
    }

    static void expect_only(const TrialOutcome& outcome, rtm::Cause cause) {
        EXPECT_GT(outcome.aborts(cause), 0u);
        EXPECT_LE((outcome.aborts() - outcome.aborts(cause)) * 100, outcome.aborts())
            << "of " << outcome.aborts() << " aborts only " << outcome.aborts(cause) << " are "
            << rtm::name_of(cause);
    }
};

INSTANTIATE_TEST_SUITE_P(Presets, CauseScenarios, ::testing::ValuesIn(presets_with_rtm()),
                         [](const auto& test) {
                             std::string name = test.param.name;
                             for (char& c : name) {
                                 if (c == '-') c = '_';
                             }
                             return name;
                         });

TEST_P(CauseScenarios, WritingMoreThanL1IsCapacity) {
    const auto outcome = run("rtm-capacity");
    expect_only(outcome, rtm::Cause::capacity);
    EXPECT_EQ(outcome.sum(&AbortLog::commits), 0u);
    EXPECT_EQ(run("rtm-capacity", {{"footprint_lines", 32}}).aborts(), 0u);
}

TEST_P(CauseScenarios, OneLineMoreThanTheWaysOfASetIsCapacity) {
    const std::int64_t strided = word("rtm-capacity", "placement", "strided");
    const std::int64_t ways = GetParam().l1_ways;
    const auto too_many = run("rtm-capacity", {{"placement", strided},
                                               {"footprint_lines", ways + 1},
                                               {"stride_lines", GetParam().l1_sets}});
    expect_only(too_many, rtm::Cause::capacity);
    EXPECT_EQ(too_many.sum(&AbortLog::commits), 0u);
    const auto neighbours =
        run("rtm-capacity",
            {{"placement", strided}, {"footprint_lines", ways + 1}, {"stride_lines", 1}});
    EXPECT_EQ(neighbours.aborts(), 0u);
}

TEST_P(CauseScenarios, ReadLinesOutgrowL1WithoutAnAbort) {
    const std::int64_t read = word("rtm-capacity", "access", "read");
    const auto outcome = run("rtm-capacity", {{"access", read}});
    EXPECT_EQ(outcome.aborts(), 0u) << "1,024 lines are more than any L1 data cache holds";
}

TEST_P(CauseScenarios, RandomLinesAbortMoreOftenThanPackedOnes) {
    const std::int64_t random = word("rtm-capacity", "placement", "random");
    const auto packed = run("rtm-capacity", {{"footprint_lines", 256}});
    const auto scattered = run("rtm-capacity", {{"footprint_lines", 256}, {"placement", random}});
    EXPECT_GT(scattered.aborts(rtm::Cause::capacity), packed.aborts());
}

TEST_P(CauseScenarios, MeetingOnALineIsConflictWhateverTheBytes) {
    for (const std::string_view roles : {"write-write", "read-write"}) {
        for (const std::string_view bytes : {"same", "disjoint"}) {
            SCOPED_TRACE(std::string(roles) + ' ' + std::string(bytes));
            expect_only(run("rtm-conflict", {{"roles", word("rtm-conflict", "roles", roles)},
                                             {"bytes", word("rtm-conflict", "bytes", bytes)}}),
                        rtm::Cause::conflict);
        }
    }
}

TEST_P(CauseScenarios, ReadersAndPaddedWritersNeverConflict) {
    const std::int64_t readers = word("rtm-conflict", "roles", "read-read");
    const std::int64_t padded = word("rtm-conflict", "bytes", "padded");
    EXPECT_EQ(run("rtm-conflict", {{"roles", readers}}).aborts(rtm::Cause::conflict), 0u);
    EXPECT_EQ(run("rtm-conflict", {{"bytes", padded}}).aborts(rtm::Cause::conflict), 0u);
}

TEST_P(CauseScenarios, BeyondTheLimitEveryNestedTransactionAborts) {
    const std::int64_t limit = GetParam().rtm_max_nest;
    EXPECT_EQ(run("rtm-nesting", {{"depth", limit}}).aborts(), 0u);
    const auto beyond = run("rtm-nesting", {{"depth", limit + 1}});
    expect_only(beyond, rtm::Cause::nested);
    EXPECT_EQ(beyond.sum(&AbortLog::commits), 0u);
}

TEST_P(CauseScenarios, ASystemCallAbortsEveryTransactionWithStatusZero) {
    for (const std::string_view call : {"null", "map", "io"}) {
        const auto outcome = run("rtm-syscall", {{"call", word("rtm-syscall", "call", call)}});
        expect_only(outcome, rtm::Cause::other);
        EXPECT_EQ(outcome.sum(&AbortLog::commits), 0u) << call;
    }
}

TEST_P(CauseScenarios, PauseAbortsEveryTransaction) {
    const auto outcome = run("rtm-pause");
    expect_only(outcome, rtm::Cause::other);
    EXPECT_EQ(outcome.sum(&AbortLog::commits), 0u);
    EXPECT_EQ(run("rtm-pause", {{"pauses", 0}}).aborts(), 0u);
}

TEST_P(CauseScenarios, RetryingNeverMapsAPage) {
    const auto outcome = run("rtm-first-touch", {{"pages", 300}, {"attempts", 4}});
    expect_only(outcome, rtm::Cause::other);
    EXPECT_EQ(outcome.aborts(), 4u * 300u);
    EXPECT_EQ(outcome.sum(&AbortLog::commits), 300u) << "one a page, after the touch outside";
    EXPECT_EQ(outcome.counts.page_faults, 300u);
}

TEST_P(CauseScenarios, PagesTouchedBeforeDoNotAbort) {
    EXPECT_EQ(run("rtm-first-touch", {{"pages", 300}, {"prefault", 1}}).aborts(), 0u);
}

TEST_P(CauseScenarios, XabortBringsItsCodeBack) {
    for (const unsigned code : {0u, 1u, 66u, 254u}) {
        const auto outcome = run("rtm-explicit", {{"code", code}});
        expect_only(outcome, rtm::Cause::explicit_abort);
        EXPECT_EQ(outcome.logs[0].explicit_codes[code], 1000u) << code;
    }
    expect_only(run("rtm-explicit", {{"code", 255}}), rtm::Cause::lock_busy);
}

TEST_P(CauseScenarios, TheBankConflictsMoreTheMoreATransferReads) {
    const auto narrow = run("rtm-bank", {{"transfers", 2000}}, "ovs2016");
    const auto wide = run("rtm-bank", {{"transfers", 2000}, {"reads_per_transfer", 50}}, "ovs2016");
    expect_only(wide, rtm::Cause::conflict);
    EXPECT_GT(wide.aborts(), 2 * narrow.aborts());
}

TEST_P(CauseScenarios, LemmingsRunWhereNobodyWaitsAndStayWhereOneDoes) {
    const Changes changes{{"sections", 2000}, {"real_every", 200}};
    const auto probing = run("lemming", changes, "ovs2016");
    const auto waiting = run("lemming", changes, "kleen-wait");
    const auto fallback_pct = [](const TrialOutcome& outcome) {
        return outcome.sum(&AbortLog::fallbacks) * 100 / outcome.sum(&AbortLog::acquisitions);
    };
    EXPECT_GT(fallback_pct(probing), 30u);
    EXPECT_LT(fallback_pct(waiting), 2u);
    EXPECT_GT(probing.phase("sections").duration_ns, 2 * waiting.phase("sections").duration_ns);
}

class RtmDuration : public OnTheModel {};

TEST_F(RtmDuration, LongerTransactionsAbortMoreOftenAndForNoOtherReason) {
    const auto aborts = [](std::int64_t cycles) {
        const auto outcome = run_model(spec_of("rtm-duration", 1, {{"duration_cycles", cycles}}));
        EXPECT_EQ(outcome.aborts(), outcome.aborts(rtm::Cause::other));
        return outcome.aborts();
    };
    const std::uint64_t brief = aborts(100'000);
    const std::uint64_t medium = aborts(3'000'000);
    const std::uint64_t endless = aborts(100'000'000);
    EXPECT_LT(brief, medium);
    EXPECT_LT(medium, endless);
    EXPECT_GT(endless, 190u) << "29 ms between interrupts 4 ms apart on average";
}

TEST(CauseScenariosOnNative, SayThatTheyNeedRtmWhereThereIsNone) {
    if (native::NativeMachine::rtm_available()) GTEST_SKIP() << "RTM works here";
    for (const ScenarioEntry& entry : scenarios()) {
        if (!entry.info->locks.empty()) continue;
        TrialSpec spec = spec_of(entry.info->name, 1);
        spec.machine = "native";
        EXPECT_THROW(require_runnable(spec), CannotMeasure) << spec.scenario->name;
        EXPECT_THROW(run_trial(entry, spec), CannotMeasure) << spec.scenario->name;
        EXPECT_THROW(run_native(spec), CannotMeasure) << spec.scenario->name;
    }
}

TEST(RtmCapacity, RefusesAFootprintThatNoMemoryHolds) {
    const TrialSpec spec = spec_of("rtm-capacity", 1,
                                   {{"placement", word("rtm-capacity", "placement", "strided")},
                                    {"footprint_lines", 100'000},
                                    {"stride_lines", 4096}});
    EXPECT_THROW(run_trial(*find_scenario("rtm-capacity"), spec), UsageError);
}

}  // namespace
}  // namespace abortscope
