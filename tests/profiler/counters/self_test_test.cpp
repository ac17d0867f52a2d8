// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/self_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "profiler/counters/native_counters.hpp"
#include "profiler/counters/open_error.hpp"
#include "profiler/counters/reading_of.hpp"
#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using tests::all_counters;
using tests::host;

struct Tried {
    CounterPlan plan;
    std::size_t leaked_descriptors;
    Readings readings;  ///< of a phase of two workers in each pass
};

/// Plans, tests and counts a phase on a host, as the runner does.
Tried try_on(const RecordedHost& recorded) {
    ReplayedPerf perf = recorded.kernel();
    Tried tried;
    tried.plan = tested_plan(all_counters(), recorded.description, tests::verdict(recorded), {},
                             perf, [&] { return recorded.self_test_work(); });
    native::Team team(2, {});
    for (std::size_t pass = 0; pass < tried.plan.passes.size(); ++pass) {
        NativeCounters counters(tried.plan, pass, 2, recorded.description, perf);
        team.run(
            2, [](unsigned) {}, &counters);
        merge_pass(tried.readings, counters.take());
    }
    tried.leaked_descriptors = perf.open_descriptors();
    return tried;
}

Tried try_with(const std::string& name, const PerfBehaviour& perf) {
    RecordedHost recorded = host(name);
    recorded.perf = perf;
    return try_on(recorded);
}

const Reading& of(const Tried& tried, Counter counter) {
    return tried.readings[index_of(counter)];
}

/// No reading is without either a value or a reason, and nothing is left open.
void expect_sound(const Tried& tried, const std::string& what) {
    for (std::size_t i = 0; i < counter_count; ++i) {
        const Reading& reading = tried.readings[i];
        EXPECT_EQ(reading.value.has_value(), reading.provenance != Provenance::absent) << what;
        EXPECT_EQ(reading.value.has_value(), reading.absent_reason.empty())
            << what << ": " << counter_names[i];
    }
    EXPECT_EQ(tried.leaked_descriptors, 0u) << what;
}

TEST(TestedPlan, CountsEverythingWhereEverythingWorks) {
    const Tried tried = try_on(host("sapphire-rapids"));
    expect_sound(tried, "sapphire-rapids");
    EXPECT_EQ(of(tried, Counter::tx_start).value, 2'000u) << "1,000 of each of two workers";
    EXPECT_EQ(of(tried, Counter::tx_start).provenance, Provenance::hw);
    EXPECT_EQ(of(tried, Counter::abort_mem).value, 0u) << "a zero of a counter that was tried";
    EXPECT_EQ(outcome_residue(tried.readings), 0);
}

// The third condition: every errno, injected, is an empty cell and a line to act on.
TEST(TestedPlan, EveryErrnoOfOpenIsAnEmptyCellWithALineAndNeverAZero) {
    for (const OpenError& row : open_errors()) {
        PerfBehaviour perf;
        perf.hardware_errno = row.number;
        const Tried tried = try_with("sapphire-rapids", perf);
        expect_sound(tried, std::string(row.symbol));
        for (const Counter counter : {Counter::tx_start, Counter::cycles, Counter::abort_events}) {
            EXPECT_FALSE(of(tried, counter).value) << row.symbol;
            EXPECT_THAT(of(tried, counter).absent_reason, HasSubstr(std::string(row.symbol)));
        }
        EXPECT_TRUE(of(tried, Counter::page_faults).value) << "the kernel's own still count";
    }
}

TEST(TestedPlan, EveryErrnoOfTheKernelsOwnEventsFallsBackToGetrusage) {
    for (const OpenError& row : open_errors()) {
        PerfBehaviour perf;
        perf.software_errno = row.number;
        const Tried tried = try_with("sapphire-rapids", perf);
        expect_sound(tried, std::string(row.symbol));
        EXPECT_TRUE(of(tried, Counter::tx_start).value);
        EXPECT_TRUE(of(tried, Counter::task_clock_ns).value) << row.symbol;
        EXPECT_TRUE(of(tried, Counter::context_switches).value) << row.symbol;
        EXPECT_FALSE(of(tried, Counter::cpu_migrations).value) << "getrusage has none";
    }
}

TEST(TestedPlan, OneEventThatFailsLeavesTheOthers) {
    for (const OpenError& row : open_errors()) {
        PerfBehaviour perf;
        perf.event_errno[0x8c9] = row.number;
        const Tried tried = try_with("sapphire-rapids", perf);
        expect_sound(tried, std::string(row.symbol));
        EXPECT_FALSE(of(tried, Counter::abort_mem).value) << row.symbol;
        EXPECT_EQ(of(tried, Counter::tx_start).value, 2'000u) << row.symbol;
        EXPECT_TRUE(of(tried, Counter::abort_events).value) << row.symbol;
    }
}

// Acceptance case A10: user mode is tried before anything is given up.
TEST(TestedPlan, WhereTheKernelMayNotBeCountedUserModeIs) {
    const RecordedHost recorded = host("paranoid-2");
    const Tried tried = try_on(recorded);
    expect_sound(tried, "paranoid-2");
    EXPECT_EQ(of(tried, Counter::tx_start).value, 2'000u);
    for (const CounterPass& pass : tried.plan.passes) {
        for (const EventRequest& event : pass.hardware) EXPECT_TRUE(event.user_only);
    }
    EXPECT_THAT(tried.plan.describe(), HasSubstr("tx_start:u"));
}

TEST(TestedPlan, ContextSwitchesInUserModeOnlyWouldBeZeroForEver) {
    const Tried tried = try_on(host("paranoid-2"));
    // The kernel switches contexts: its event, opened for user mode, would show 0.
    const auto& usage = tried.plan.passes.front().usage;
    EXPECT_NE(std::find(usage.begin(), usage.end(), Counter::context_switches), usage.end());
    EXPECT_THAT(of(tried, Counter::cpu_migrations).absent_reason, HasSubstr("EACCES"));
}

TEST(TestedPlan, UnderParanoidThreeEveryHardwareCounterNamesTheSetting) {
    const Tried tried = try_on(host("paranoid-3"));
    expect_sound(tried, "paranoid-3");
    EXPECT_THAT(of(tried, Counter::tx_start).absent_reason, HasSubstr("perf_event_paranoid is 3"));
}

// Acceptance case A9.
TEST(TestedPlan, AVirtualPmuThatCountsNothingIsNotBelieved) {
    const Tried tried = try_on(host("vm-pmu-counts-nothing"));
    expect_sound(tried, "vm-pmu-counts-nothing");
    for (const Counter counter : {Counter::tx_start, Counter::tx_commit, Counter::tx_abort,
                                  Counter::cycles, Counter::cycles_t, Counter::cycles_ct}) {
        EXPECT_FALSE(of(tried, counter).value) << name_of(counter);
        EXPECT_THAT(of(tried, counter).absent_reason, HasSubstr("showed 0 in a self-test"));
        EXPECT_THAT(of(tried, counter).absent_reason, HasSubstr("virtual machine"));
    }
}

TEST(TestedPlan, CausesAreNotBelievedWhereTheStartsThemselvesDoNotCount) {
    const Tried tried = try_on(host("vm-pmu-counts-nothing"));
    for (const Counter counter :
         {Counter::tx_conflict, Counter::tx_capacity, Counter::abort_mem, Counter::abort_events}) {
        EXPECT_FALSE(of(tried, counter).value) << name_of(counter);
    }
}

// Acceptance case A11.
TEST(TestedPlan, GroupsThatDoNotFitBecomeSmallerGroups) {
    const Tried tried = try_on(host("broadwell-nmi-watchdog"));
    expect_sound(tried, "broadwell-nmi-watchdog");
    EXPECT_EQ(tried.plan.usable_counters, 3u);
    EXPECT_THAT(tried.plan.describe(), HasSubstr("something else holds counters"));
    for (const Counter counter : {Counter::tx_start, Counter::tx_capacity, Counter::abort_timer,
                                  Counter::abort_events, Counter::cycles_ct}) {
        EXPECT_TRUE(of(tried, counter).value) << name_of(counter);
    }
}

TEST(TestedPlan, AGroupThatNeverRunsIsAbsentNotZero) {
    PerfBehaviour perf;
    perf.starved = true;
    const Tried tried = try_with("broadwell-nmi-watchdog", perf);
    expect_sound(tried, "starved");
    EXPECT_THAT(of(tried, Counter::tx_start).absent_reason, HasSubstr("nmi_watchdog=0"));
}

TEST(TestedPlan, MultiplexedCountsAreScaledAndMarked) {
    PerfBehaviour perf;
    perf.running_pct = 40;
    const Tried tried = try_with("sapphire-rapids", perf);
    expect_sound(tried, "multiplexed");
    const Reading& start = of(tried, Counter::tx_start);
    EXPECT_EQ(start.provenance, Provenance::scaled);
    EXPECT_DOUBLE_EQ(start.running_pct, 40);
    EXPECT_EQ(start.value, 2'000u) << "400 seen in 40 % of the time, by each of two workers";
}

TEST(TestedPlan, FailedReadsAndEnablesAreAbsent) {
    PerfBehaviour short_reads;
    short_reads.short_read = true;
    PerfBehaviour failing_reads;
    failing_reads.read_errno = EIO;
    PerfBehaviour failing_enables;
    failing_enables.control_errno = EINVAL;
    for (const PerfBehaviour& perf : {short_reads, failing_reads, failing_enables}) {
        const Tried tried = try_with("sapphire-rapids", perf);
        expect_sound(tried, "reads");
        EXPECT_FALSE(of(tried, Counter::tx_start).value);
        EXPECT_FALSE(of(tried, Counter::cycles).value);
    }
}

TEST(TestedPlan, EveryMadeUpHostEndsWithAValueOrAReason) {
    for (const auto& entry : std::filesystem::directory_iterator(tests::host_root(""))) {
        if (!entry.is_directory()) continue;
        expect_sound(try_on(read_recorded_host(entry.path())), entry.path().filename());
    }
}

TEST(TestedPlan, OnThisComputerTheKernelsOwnEventsCount) {
    const CounterPlan plan = tested_plan(all_counters());
    const HostDescription here = describe_host();
    native::Team team(2, {});
    NativeCounters counters(plan, 0, 2, here);
    team.run(
        2,
        [](unsigned) {
            for (int i = 0; i < 100'000; ++i) asm volatile("" ::"r"(i));
        },
        &counters);
    const Readings readings = counters.take();
    const Reading& clock = readings[index_of(Counter::task_clock_ns)];
    if (!clock.value) GTEST_SKIP() << clock.absent_reason;
    EXPECT_GT(*clock.value, 0u);
    for (std::size_t i = 0; i < counter_count; ++i) {
        EXPECT_EQ(readings[i].value.has_value(), readings[i].absent_reason.empty())
            << counter_names[i];
    }
}

TEST(NativeCounters, APhaseCountsOnlyWhatHappenedInItAndOnlyWhoTookPart) {
    const RecordedHost recorded = host("sapphire-rapids");
    ReplayedPerf perf = recorded.kernel();
    const CounterPlan plan =
        tested_plan(all_counters(), recorded.description, tests::verdict(recorded), {}, perf,
                    [&] { return recorded.self_test_work(); });
    native::Team team(4, {});
    NativeCounters counters(plan, 0, 4, recorded.description, perf);
    for (const unsigned workers : {4u, 1u, 2u}) {
        team.run(
            workers, [](unsigned) {}, &counters);
        const auto each = counters.take_workers();
        ASSERT_EQ(each.size(), workers);
        for (const Readings& readings : each) {
            EXPECT_EQ(readings[index_of(Counter::tx_start)].value, 1'000u);
        }
    }
    const Readings nobody = counters.take();
    EXPECT_EQ(nobody[0].absent_reason, "no thread counted");
}

TEST(NativeCounters, ASumIsAbsentIfOneWorkersCounterIs) {
    const std::vector<Reading> readings{Reading::of(5, Provenance::hw),
                                        Reading::missing("EMFILE: too many open files")};
    EXPECT_EQ(sum_of(readings).absent_reason, "EMFILE: too many open files");
}

TEST(NativeCounters, APassThatThePlanLacksIsRefused) {
    CounterPlan plan;
    plan.passes.emplace_back();
    const HostDescription host;
    EXPECT_THROW(NativeCounters(plan, 1, 2, host), std::out_of_range);
}

TEST(PerfBehaviour, WordsThatMeanNothingAreRefusedWithTheirLine) {
    for (const char* text : {"hardware EWHATEVER", "# fine\nsilence yes", "starved perhaps",
                             "event 0x8c9", "free_counters three"}) {
        EXPECT_THROW(PerfBehaviour::parse(text), std::invalid_argument) << text;
    }
    EXPECT_EQ(PerfBehaviour::parse("event 0x8c9 EBUSY # held").event_errno.at(0x8c9), EBUSY);
}

}  // namespace
}  // namespace abortscope
