// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/event_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "profiler/counters/libpfm.hpp"

namespace abortscope {
namespace {

/// github.com/intel/perfmon's TSX events, copied from its files rather than from our table: name,
/// event code, umask, and the CPUs that list it, in the order hsw bdw skl icl icx spr.
struct Perfmon {
    const char* name;
    unsigned code;
    unsigned umask;
    const char* listed;  // y: listed, P: and precise, -: not; l: counters 0-3 only
};

constexpr Perfmon perfmon[] = {
    {"HLE_RETIRED.START", 0xc8, 0x01, "yyyy--"},
    {"HLE_RETIRED.COMMIT", 0xc8, 0x02, "yyyy--"},
    {"HLE_RETIRED.ABORTED", 0xc8, 0x04, "PPPy--"},
    {"HLE_RETIRED.ABORTED_MEM", 0xc8, 0x08, "--yy--"},
    {"HLE_RETIRED.ABORTED_MISC1", 0xc8, 0x08, "yy----"},
    {"HLE_RETIRED.ABORTED_MISC2", 0xc8, 0x10, "yy----"},
    {"HLE_RETIRED.ABORTED_TIMER", 0xc8, 0x10, "--y---"},
    {"HLE_RETIRED.ABORTED_MISC3", 0xc8, 0x20, "yy----"},
    {"HLE_RETIRED.ABORTED_UNFRIENDLY", 0xc8, 0x20, "--yy--"},
    {"HLE_RETIRED.ABORTED_MEMTYPE", 0xc8, 0x40, "--y---"},
    {"HLE_RETIRED.ABORTED_MISC4", 0xc8, 0x40, "yy----"},
    {"HLE_RETIRED.ABORTED_EVENTS", 0xc8, 0x80, "--yy--"},
    {"HLE_RETIRED.ABORTED_MISC5", 0xc8, 0x80, "yy----"},
    {"RTM_RETIRED.START", 0xc9, 0x01, "yyyyyy"},
    {"RTM_RETIRED.COMMIT", 0xc9, 0x02, "yyyyyy"},
    {"RTM_RETIRED.ABORTED", 0xc9, 0x04, "PPPPPP"},
    {"RTM_RETIRED.ABORTED_MEM", 0xc9, 0x08, "--yyyy"},
    {"RTM_RETIRED.ABORTED_MISC1", 0xc9, 0x08, "yy----"},
    {"RTM_RETIRED.ABORTED_MISC2", 0xc9, 0x10, "yy----"},
    {"RTM_RETIRED.ABORTED_TIMER", 0xc9, 0x10, "--y---"},
    {"RTM_RETIRED.ABORTED_MISC3", 0xc9, 0x20, "yy----"},
    {"RTM_RETIRED.ABORTED_UNFRIENDLY", 0xc9, 0x20, "--yyyy"},
    {"RTM_RETIRED.ABORTED_MEMTYPE", 0xc9, 0x40, "--yyyy"},
    {"RTM_RETIRED.ABORTED_MISC4", 0xc9, 0x40, "yy----"},
    {"RTM_RETIRED.ABORTED_EVENTS", 0xc9, 0x80, "--yyyy"},
    {"RTM_RETIRED.ABORTED_MISC5", 0xc9, 0x80, "yy----"},
    {"TX_EXEC.MISC1", 0x5d, 0x01, "yyy---"},
    {"TX_EXEC.MISC2", 0x5d, 0x02, "yyyyy-"},
    {"TX_EXEC.MISC3", 0x5d, 0x04, "yyyyy-"},
    {"TX_EXEC.MISC4", 0x5d, 0x08, "yyy---"},
    {"TX_EXEC.MISC5", 0x5d, 0x10, "yyy---"},
    {"TX_MEM.ABORT_CONFLICT", 0x54, 0x01, "yyylll"},
    {"TX_MEM.ABORT_CAPACITY", 0x54, 0x02, "--y---"},
    {"TX_MEM.ABORT_CAPACITY_WRITE", 0x54, 0x02, "yy-lll"},
    {"TX_MEM.ABORT_HLE_STORE_TO_ELIDED_LOCK", 0x54, 0x04, "yyyl--"},
    {"TX_MEM.ABORT_HLE_ELISION_BUFFER_NOT_EMPTY", 0x54, 0x08, "yyyl--"},
    {"TX_MEM.ABORT_HLE_ELISION_BUFFER_MISMATCH", 0x54, 0x10, "yyyl--"},
    {"TX_MEM.ABORT_HLE_ELISION_BUFFER_UNSUPPORTED_ALIGNMENT", 0x54, 0x20, "yyyl--"},
    {"TX_MEM.HLE_ELISION_BUFFER_FULL", 0x54, 0x40, "yyyl--"},
    {"TX_MEM.ABORT_CAPACITY_READ", 0x54, 0x80, "---lll"},
};

constexpr EventGroup groups[] = {events_hsw, events_bdw, events_skl,
                                 events_icl, events_icx, events_spr};

bool is_cycles(const Event& event) {
    return event.intel.starts_with("CPU_CLK");
}

TEST(EventTable, ListsWhatIntelsOwnFilesListAndNothingElse) {
    for (std::size_t g = 0; g < std::size(groups); ++g) {
        using Row = std::tuple<std::string, std::uint64_t, bool, bool>;
        std::set<Row> expected;
        for (const Perfmon& row : perfmon) {
            const char mark = row.listed[g];
            if (mark == '-') continue;
            expected.insert({row.name, row.umask << 8 | row.code, mark == 'P', mark == 'l'});
        }
        std::set<Row> listed;
        for (const Event* event : events_of(groups[g])) {
            if (is_cycles(*event)) continue;
            listed.insert({std::string(event->intel), event->config,
                           (event->precise & groups[g]) != 0,
                           (event->low_counters & groups[g]) != 0});
        }
        EXPECT_EQ(listed, expected) << "group " << g;
    }
}

TEST(EventTable, HasEachCounterOnceInEachGroup) {
    for (const EventGroup group : groups) {
        std::map<std::string_view, int> seen;
        for (const Event* event : events_of(group)) {
            if (!event->logical.empty()) ++seen[event->logical];
        }
        for (const auto& [name, times] : seen) EXPECT_EQ(times, 1) << name;
        for (const Counter counter :
             {Counter::tx_start, Counter::tx_commit, Counter::tx_abort, Counter::tx_conflict,
              Counter::abort_mem, Counter::abort_unfriendly, Counter::abort_memtype,
              Counter::abort_events, Counter::cycles, Counter::cycles_t, Counter::cycles_ct}) {
            EXPECT_NE(event_for(counter, group), nullptr) << name_of(counter);
        }
        // Capacity comes in one number up to Cascade Lake, in two from Ice Lake on.
        const bool split = event_for(Counter::tx_capacity_read, group) != nullptr;
        EXPECT_EQ(event_for(Counter::tx_capacity_write, group) != nullptr, split);
        EXPECT_EQ(event_for(Counter::tx_capacity, group) != nullptr, !split);
    }
}

TEST(EventTable, AgreesWithEveryPmuOfLibpfmThatHasTsx) {
    unsigned pmus = 0;
    for (const Microarch& cpu : microarchs()) {
        const auto theirs = libpfm_tsx_events(cpu.libpfm);
        if (theirs.empty()) continue;  // emr and gnr in Debian's 4.13
        ++pmus;
        std::map<std::string, std::uint64_t> unmatched;
        for (const LibpfmEvent& event : theirs) unmatched[event.name] = event.config;
        for (const Event* event : events_of(cpu.events)) {
            EXPECT_EQ(libpfm_config(cpu.libpfm, event->libpfm), event->config)
                << cpu.name << " " << event->libpfm;
            unmatched.erase(std::string(event->libpfm));
        }
        // The other way round: libpfm4 lists nothing that the table lacks, but for HLE, which it
        // still shows on Ice Lake servers and (under the name icl) on Tiger Lake.
        for (const auto& [name, config] : unmatched) {
            EXPECT_TRUE(cpu.events == events_icx && name.find("HLE") != std::string::npos)
                << cpu.name << " " << name;
        }
    }
    EXPECT_GE(pmus, 13u) << "libpfm4 4.13 answers for all but emr and gnr";
}

TEST(EventTable, EmeraldAndGraniteRapidsHaveTheirEventsWithoutLibpfm) {
    for (const char* name : {"emr", "gnr"}) {
        const Microarch* cpu = microarch_named(name);
        ASSERT_NE(cpu, nullptr);
        EXPECT_EQ(event_for(Counter::tx_start, cpu->events)->config, 0x1c9u);
        EXPECT_EQ(event_for(Counter::tx_capacity_read, cpu->events)->config, 0x8054u);
    }
}

TEST(EventTable, KnowsWhichCountersAnEventMayUse) {
    const Event& conflict_hsw = *event_for(Counter::tx_conflict, events_hsw);
    const Event& conflict_icx = *event_for(Counter::tx_conflict, events_icx);
    const Event& start = *event_for(Counter::tx_start, events_icx);
    const Event& committed_cycles = *event_for(Counter::cycles_ct, events_icx);
    EXPECT_EQ(counters_for(conflict_hsw, events_hsw, 8), 0xffu);
    EXPECT_EQ(counters_for(conflict_icx, events_icx, 8), 0x0fu);
    EXPECT_EQ(counters_for(start, events_icx, 8), 0xffu);
    EXPECT_EQ(counters_for(committed_cycles, events_icx, 8), 0x04u);
    EXPECT_EQ(counters_for(committed_cycles, events_icx, 2), 0u) << "a virtual PMU of two";
}

TEST(Microarch, SteppingsSeparateSkylakeServersFromCascadeLake) {
    EXPECT_EQ(cpu_model(6, 0x55, 4)->microarch, "skx");
    EXPECT_EQ(cpu_model(6, 0x55, 7)->microarch, "clx");
    EXPECT_EQ(cpu_model(6, 0x55, 11)->microarch, "clx");
    EXPECT_EQ(cpu_model(6, 0xcf, 2)->microarch, "emr");
    EXPECT_EQ(cpu_model(6, 0xad, 1)->microarch, "gnr");
    EXPECT_EQ(cpu_model(6, 0x01, 0), nullptr);
    EXPECT_EQ(cpu_model(15, 0x55, 4), nullptr);
}

TEST(Microarch, EveryModelNamesARowAndNoneTwice) {
    std::set<std::pair<unsigned, unsigned>> seen;
    for (const CpuModel& model : cpu_models()) {
        EXPECT_NE(microarch_named(model.microarch), nullptr) << model.microarch;
        for (unsigned s = model.first_stepping; s <= model.last_stepping; ++s) {
            EXPECT_TRUE(seen.insert({model.model, s}).second) << std::hex << +model.model;
        }
    }
}

}  // namespace
}  // namespace abortscope
