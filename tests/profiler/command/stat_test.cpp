// SPDX-License-Identifier: Apache-2.0
#include "profiler/command/stat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "profiler/counters/native_counters.hpp"
#include "profiler/counters/self_test.hpp"
#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using tests::all_counters;
using tests::host;

struct Counted {
    CounterPlan plan;
    StatResult result;
    std::size_t leaked_descriptors;
    std::vector<perf_event_attr> opened;
};

/// Runs a command with the counters of a made-up host: the command is real, its counts are not.
Counted count(const RecordedHost& recorded, const StatOptions& options) {
    Counted counted;
    ReplayedPerf perf = recorded.kernel();
    counted.plan = tested_plan(all_counters(), recorded.description, tests::verdict(recorded), {},
                               perf, [&] { return recorded.self_test_work(); });
    const std::size_t before = perf.opened().size();
    counted.result = run_stat(options, counted.plan, recorded.description, perf);
    counted.leaked_descriptors = perf.open_descriptors();
    const auto all = perf.opened();
    counted.opened.assign(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    return counted;
}

StatOptions command(std::vector<std::string> words) {
    StatOptions options;
    options.command = std::move(words);
    return options;
}

TEST(Stat, EventsAreInheritedAndStartWithTheProgram) {
    const Counted counted = count(host("sapphire-rapids"), command({"true"}));
    EXPECT_FALSE(counted.opened.empty());
    for (const perf_event_attr& attributes : counted.opened) {
        EXPECT_EQ(attributes.inherit, 1u);
        EXPECT_EQ(attributes.disabled, 1u);
        EXPECT_EQ(attributes.enable_on_exec, 1u);
        EXPECT_EQ(attributes.read_format & PERF_FORMAT_GROUP, 0u)
            << "the kernel refuses inherited groups";
    }
    EXPECT_EQ(counted.leaked_descriptors, 0u);
}

TEST(Stat, RunsGoThroughThePassesInTurn) {
    StatOptions options = command({"true"});
    options.repeat = 5;
    const Counted counted = count(host("skylake-sp-force-abort"), options);
    ASSERT_EQ(counted.plan.passes.size(), 4u);
    ASSERT_EQ(counted.result.runs.size(), 5u);
    for (std::size_t run = 0; run < 5; ++run) EXPECT_EQ(counted.result.runs[run].pass, run % 4);
    const auto& second = counted.result.runs[1].readings;
    EXPECT_EQ(second[index_of(Counter::tx_start)].absent_reason, counted_in_another_pass);
    const Readings means = mean_of(counted.result.runs);
    for (const Counter counter : {Counter::tx_start, Counter::tx_conflict, Counter::cycles_ct}) {
        EXPECT_NE(means[index_of(counter)].absent_reason, counted_in_another_pass)
            << name_of(counter);
    }
}

TEST(Stat, NeverMoreThanThreeGeneralCountersUnderForceAbort) {
    StatOptions options = command({"true"});
    options.repeat = 4;
    const Counted counted = count(host("skylake-sp-force-abort"), options);
    const auto raw = std::count_if(
        counted.opened.begin(), counted.opened.end(),
        [](const perf_event_attr& attributes) { return attributes.type == PERF_TYPE_RAW; });
    EXPECT_EQ(raw, 12) << "in four runs";
}

TEST(Stat, ACounterThatNeverRanIsAbsentAndOneThatRanForAPartIsScaled) {
    // The replayed kernel counts between ioctls; a program's events are enabled by exec, so here
    // they never run.
    const Counted counted = count(host("sapphire-rapids"), command({"true"}));
    const Reading& start = counted.result.runs.front().readings[index_of(Counter::tx_start)];
    EXPECT_FALSE(start.value);
    EXPECT_THAT(start.absent_reason, HasSubstr("never got its counters"));
}

TEST(Stat, WithoutPerfEventOpenTheKernelsAccountsAreLeft) {
    const Counted counted = count(host("docker-seccomp"), command({"sh", "-c", ": $(ls /)"}));
    const Readings& readings = counted.result.runs.front().readings;
    EXPECT_GT(readings[index_of(Counter::page_faults)].value.value_or(0), 0u);
    EXPECT_TRUE(readings[index_of(Counter::task_clock_ns)].value);
    EXPECT_THAT(readings[index_of(Counter::tx_start)].absent_reason, HasSubstr("EPERM"));
}

TEST(Stat, AProgramThatCannotBeStartedHasNoRuns) {
    const Counted counted = count(host("sapphire-rapids"), command({"missing-command"}));
    EXPECT_EQ(counted.result.exec_error, ENOENT);
    EXPECT_TRUE(counted.result.runs.empty());
    EXPECT_EQ(counted.leaked_descriptors, 0u);
}

TEST(Stat, TheFirstStatusThatIsNotZeroIsTheResultAndASignalEndsTheRepeats) {
    StatOptions options = command({"sh", "-c", "exit 7"});
    options.repeat = 2;
    EXPECT_EQ(count(host("amd-epyc"), options).result.status, 7);
    EXPECT_EQ(count(host("amd-epyc"), options).result.runs.size(), 2u);
    options.command = {"sh", "-c", "kill -TERM $$"};
    EXPECT_EQ(count(host("amd-epyc"), options).result.runs.size(), 1u);
    EXPECT_EQ(count(host("amd-epyc"), options).result.status, 128 + 15);
}

TEST(Stat, IntervalsAddUpToTheTotal) {
    const HostDescription here = describe_host();
    const std::vector<Counter> asked{Counter::task_clock_ns, Counter::page_faults};
    const CounterPlan plan = tested_plan(asked);
    if (plan.passes.front().software.size() != 2) GTEST_SKIP() << plan.describe();
    StatOptions options =
        command({"sh", "-c", "for i in 1 2 3; do ls / >/dev/null; sleep 0.02; done"});
    options.interval_ns = 10'000'000;
    const StatResult result = run_stat(options, plan, here, kernel_perf());
    const StatRun& run = result.runs.front();
    EXPECT_GE(run.intervals.size(), 3u);
    for (const Counter counter : asked) {
        std::uint64_t sum = 0;
        for (const StatInterval& interval : run.intervals) {
            sum += interval.readings[index_of(counter)].value.value_or(0);
        }
        EXPECT_EQ(sum, run.readings[index_of(counter)].value) << name_of(counter);
    }
}

TEST(Stat, CountsWhatAProgramsChildrenDo) {
    const HostDescription here = describe_host();
    const std::vector<Counter> asked{Counter::page_faults};
    const CounterPlan plan = tested_plan(asked);
    const auto faults = [&](const char* script) {
        const StatResult result =
            run_stat(command({"sh", "-c", script}), plan, here, kernel_perf());
        return result.runs.front().readings[index_of(Counter::page_faults)].value.value();
    };
    // A child of its own, not the shell itself by exec: a program costs dozens of page faults.
    EXPECT_GT(faults("/bin/true; /bin/true; /bin/true; :"), faults(":") + 60);
}

Readings readings_of(std::initializer_list<std::pair<Counter, std::uint64_t>> values) {
    Readings readings;
    for (const auto& [counter, value] : values) {
        readings[index_of(counter)] = Reading::of(value, Provenance::hw);
    }
    return readings;
}

std::optional<double> derived(const Readings& readings, std::string_view name) {
    for (const DerivedNumber& number : derived_numbers(readings)) {
        if (number.name == name) return number.value;
    }
    ADD_FAILURE() << name;
    return std::nullopt;
}

TEST(DerivedNumbers, AreThoseOfPerfStatT) {
    const Readings readings = readings_of({{Counter::cycles, 1'000},
                                           {Counter::cycles_t, 400},
                                           {Counter::cycles_ct, 300},
                                           {Counter::tx_start, 8},
                                           {Counter::tx_abort, 2}});
    EXPECT_EQ(derived(readings, "transactional_cycles_pct"), 40);
    EXPECT_EQ(derived(readings, "wasted_cycles"), 100);
    EXPECT_EQ(derived(readings, "wasted_cycles_pct"), 10);
    EXPECT_EQ(derived(readings, "cycles_per_transaction"), 50);
    EXPECT_EQ(derived(readings, "abort_rate"), 0.25);
}

TEST(DerivedNumbers, NothingFollowsFromAnAbsentCounterOrFromNoTransactions) {
    const Readings nothing;
    for (const DerivedNumber& number : derived_numbers(nothing)) EXPECT_FALSE(number.value);
    const Readings idle = readings_of({{Counter::cycles, 10},
                                       {Counter::cycles_t, 0},
                                       {Counter::cycles_ct, 0},
                                       {Counter::tx_start, 0},
                                       {Counter::tx_abort, 0}});
    EXPECT_EQ(derived(idle, "abort_rate"), std::nullopt) << "0/0";
    EXPECT_EQ(derived(idle, "cycles_per_transaction"), std::nullopt);
    EXPECT_EQ(derived(idle, "wasted_cycles"), 0);
}

TEST(DerivedNumbers, CommittedCyclesThatRanAheadDoNotMakeTheWasteHuge) {
    EXPECT_EQ(
        derived(readings_of({{Counter::cycles_t, 99}, {Counter::cycles_ct, 100}}), "wasted_cycles"),
        0);
}

TEST(MeanOf, RoundsAndKeepsTheReasonWhereNoRunCounted) {
    std::vector<StatRun> runs(2);
    runs[0].readings = readings_of({{Counter::tx_start, 3}});
    runs[1].readings = readings_of({{Counter::tx_start, 4}});
    runs[0].readings[index_of(Counter::tx_abort)] = Reading::missing(counted_in_another_pass);
    runs[1].readings[index_of(Counter::tx_abort)] = Reading::missing("EBUSY: held");
    const Readings means = mean_of(runs);
    EXPECT_EQ(means[index_of(Counter::tx_start)].value, 4u);
    EXPECT_EQ(means[index_of(Counter::tx_abort)].absent_reason, "EBUSY: held");
}

}  // namespace
}  // namespace abortscope
