// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/event_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "profiler/counters/event_table.hpp"
#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using tests::host;

const ListedEvent& row(const std::vector<ListedEvent>& rows, std::string_view counter) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const ListedEvent& r) { return r.counter == counter; });
    EXPECT_NE(found, rows.end()) << counter;
    return *found;
}

TEST(EventList, AnotherCpusTableIsShownWithoutOpeningAnything) {
    const auto rows = events_of_cpu(*microarch_named("skx"));
    EXPECT_EQ(row(rows, "abort_timer").event, "RTM_RETIRED.ABORTED_TIMER");
    EXPECT_EQ(row(rows, "abort_timer").libpfm, "skx::RTM_RETIRED:ABORTED_TMR");
    EXPECT_EQ(row(rows, "abort_timer").encoding, "0x10c9");
    EXPECT_EQ(row(rows, "cycles_ct").counters, "2");
    EXPECT_TRUE(row(rows, "tx_abort").precise);
    for (const ListedEvent& event : rows) EXPECT_EQ(event.opens, std::nullopt);
}

TEST(EventList, IceLakesMemoryEventsAreOnTheFirstFourCounters) {
    const auto rows = events_of_cpu(*microarch_named("icx"));
    EXPECT_EQ(row(rows, "tx_conflict").counters, "0-3");
    EXPECT_EQ(row(rows, "tx_start").counters, "any");
}

TEST(EventList, EveryCpuOfTheTableIsListed) {
    for (const Microarch& cpu : microarchs()) {
        EXPECT_EQ(events_of_cpu(cpu).size(), events_of(cpu.events).size()) << cpu.name;
    }
}

// Acceptance case A15.
TEST(EventList, EachCounterOfThisCpuSaysWhetherItOpensAndTheErrnoInWords) {
    RecordedHost recorded = host("sapphire-rapids");
    recorded.perf.event_errno[0x8c9] = EBUSY;
    ReplayedPerf perf = recorded.kernel();
    const auto rows = events_of_host(recorded.description, perf);
    EXPECT_EQ(row(rows, "tx_start").opens, true);
    EXPECT_EQ(row(rows, "tx_start").pmu, "cpu");
    EXPECT_EQ(row(rows, "abort_mem").opens, false);
    EXPECT_THAT(row(rows, "abort_mem").reason, HasSubstr("EBUSY: another event"));
    EXPECT_EQ(row(rows, "page_faults").opens, true);
    EXPECT_EQ(row(rows, "page_faults").pmu, "software");
    EXPECT_THAT(row(rows, "abort_timer").reason, HasSubstr("has no event"));
    EXPECT_EQ(perf.open_descriptors(), 0u);
}

TEST(EventList, UserModeOnlyIsSaid) {
    const RecordedHost recorded = host("paranoid-2");
    ReplayedPerf perf = recorded.kernel();
    EXPECT_THAT(row(events_of_host(recorded.description, perf), "tx_commit").caveat,
                HasSubstr("user mode only"));
}

TEST(EventList, EveryCounterIsListedOnceOnEveryHost) {
    for (const auto& entry : std::filesystem::directory_iterator(tests::host_root(""))) {
        if (!entry.is_directory()) continue;
        const RecordedHost recorded = read_recorded_host(entry.path());
        ReplayedPerf perf = recorded.kernel();
        const auto rows = events_of_host(recorded.description, perf);
        for (std::size_t i = 0; i < counter_count; ++i) {
            EXPECT_EQ(
                std::count_if(rows.begin(), rows.end(),
                              [&](const ListedEvent& r) { return r.counter == counter_names[i]; }),
                1)
                << entry.path() << " " << counter_names[i];
        }
        for (const ListedEvent& event : rows) {
            EXPECT_EQ(*event.opens, event.reason.empty()) << entry.path() << event.counter;
        }
    }
}

}  // namespace
}  // namespace abortscope
