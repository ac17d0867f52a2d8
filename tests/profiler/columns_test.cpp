// SPDX-License-Identifier: Apache-2.0
#include "profiler/columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace abortscope {
namespace {

constexpr std::array<std::string_view, 2> layouts{"shared", "disjoint"};
constexpr std::array<ParameterSpec, 2> map_parameters{
    {{.name = "mutation_pct", .option = "mutation", .help = "share of removals"},
     {.name = "n", .option = "n", .help = "elements"}}};
constexpr std::array<ParameterSpec, 2> conflict_parameters{
    {{.name = "n", .option = "n", .help = "rounds"},
     {.name = "bytes", .option = "", .help = "layout", .words = layouts}}};

const ScenarioInfo map{.name = "map", .parameters = map_parameters};
const ScenarioInfo conflict{.name = "conflict", .parameters = conflict_parameters};

std::string header(std::span<const Column> columns) {
    std::vector<std::string_view> names;
    for (const Column& column : columns) names.push_back(column.name);
    return fmt::format("{}", fmt::join(names, " "));
}

std::string text_of(std::string_view name, const Measurement& row) {
    const ScenarioInfo* scenarios[] = {&map, &conflict};
    const std::vector<Column> columns = columns_for(scenarios);
    return to_text(columns.at(index_of(columns, name)).of(row));
}

TEST(Columns, AreThoseThatOtherProgramsRelyOnInThatOrder) {
    const ScenarioInfo* scenarios[] = {&map};
    EXPECT_EQ(
        header(columns_for(scenarios)),
        "schema_version scenario phase machine lock policy threads cpus seed repeat "
        "mutation_pct n "
        "duration_ns operations operations_per_s acquisitions elided fallbacks fallback_rate "
        "abort_rate wasted_cycles longest_fallback_run fallback_after_fallback_rate "
        "worker_ops_min worker_ops_mean worker_ops_max "
        "tx_start tx_commit tx_abort tx_conflict tx_capacity tx_capacity_read tx_capacity_write "
        "abort_mem abort_timer abort_unfriendly abort_memtype abort_events cycles cycles_t "
        "cycles_ct task_clock_ns context_switches cpu_migrations page_faults "
        "cause_conflict cause_capacity cause_explicit cause_lock_busy cause_nested cause_debug "
        "cause_other explicit_codes "
        "bit_explicit bit_retry bit_conflict bit_capacity bit_debug bit_nested "
        "time_source counter_source cause_source counter_running_pct absent_reason");
}

TEST(Columns, HoldTheParametersOfAllScenariosOnce) {
    const ScenarioInfo* scenarios[] = {&map, &conflict};
    const std::vector<Column> columns = columns_for(scenarios);
    EXPECT_EQ(columns.size(), fixed_columns().size() + 3);
    EXPECT_EQ(columns[10].name, "mutation_pct");
    EXPECT_EQ(columns[10].unit, "%");
    EXPECT_EQ(columns[11].name, "n");
    EXPECT_EQ(columns[12].name, "bytes");
    EXPECT_EQ(columns[12].kind, ColumnKind::text);
}

TEST(Columns, NameEveryCounterCauseAndStatusBit) {
    std::set<std::string> names;
    for (const Column& column : fixed_columns()) names.insert(std::string(column.name));
    EXPECT_EQ(names.size(), fixed_columns().size());
    for (const std::string_view name : counter_names) {
        EXPECT_TRUE(names.contains(std::string(name))) << name;
    }
    for (const std::string_view name : rtm::cause_names) {
        EXPECT_TRUE(names.contains(fmt::format("cause_{}", name))) << name;
    }
    for (const std::string_view name : rtm::status_bit_names) {
        EXPECT_TRUE(names.contains(fmt::format("bit_{}", name))) << name;
    }
}

TEST(Columns, ShowEachCounterItsOwnReading) {
    Measurement row;
    for (std::size_t i = 0; i < counter_count; ++i) {
        row.counters[i] = Reading::of(1000 + i, Provenance::model);
    }
    for (std::size_t i = 0; i < counter_count; ++i) {
        EXPECT_EQ(text_of(counter_names[i], row), fmt::format("{}", 1000 + i));
    }
}

TEST(Columns, ShowEachCauseAndBitItsOwnCount) {
    Measurement row;
    row.log.emplace();
    for (std::size_t i = 0; i < rtm::cause_count; ++i) row.log->causes[i] = 10 + i;
    for (std::size_t i = 0; i < rtm::status_bit_count; ++i) row.log->bits[i] = 20 + i;
    for (std::size_t i = 0; i < rtm::cause_count; ++i) {
        EXPECT_EQ(text_of(fmt::format("cause_{}", rtm::cause_names[i]), row),
                  fmt::format("{}", 10 + i));
    }
    for (std::size_t i = 0; i < rtm::status_bit_count; ++i) {
        EXPECT_EQ(text_of(fmt::format("bit_{}", rtm::status_bit_names[i]), row),
                  fmt::format("{}", 20 + i));
    }
}

TEST(Columns, LeaveEmptyWhatWasNotMeasuredAndZeroByZero) {
    const Measurement row;
    for (const std::string_view name :
         {"duration_ns", "operations", "operations_per_s", "acquisitions", "fallback_rate",
          "abort_rate", "wasted_cycles", "worker_ops_min", "worker_ops_max", "tx_start",
          "cause_conflict", "bit_retry", "explicit_codes", "counter_running_pct", "absent_reason",
          "n", "bytes"}) {
        EXPECT_EQ(text_of(name, row), "") << name;
    }
    EXPECT_EQ(text_of("time_source", row), "absent");
    EXPECT_EQ(text_of("schema_version", row), "1");

    Measurement idle;
    idle.log.emplace();
    EXPECT_EQ(text_of("acquisitions", idle), "0");
    EXPECT_EQ(text_of("cause_conflict", idle), "0");
    EXPECT_EQ(text_of("abort_rate", idle), "");
    EXPECT_EQ(text_of("fallback_rate", idle), "");
}

TEST(Columns, ShowRatesAndWorkers) {
    Measurement row;
    row.duration_ns = 2'000'000'000;
    row.time_source = Provenance::model;
    row.worker_operations = {300, 100, 200};
    row.log.emplace();
    row.log->attempts = 8;
    row.log->causes[0] = 2;
    row.log->acquisitions = 3;
    row.log->fallbacks = 1;
    EXPECT_EQ(text_of("operations", row), "600");
    EXPECT_EQ(text_of("operations_per_s", row), "300");
    EXPECT_EQ(text_of("worker_ops_min", row), "100");
    EXPECT_EQ(text_of("worker_ops_mean", row), "200");
    EXPECT_EQ(text_of("worker_ops_max", row), "300");
    EXPECT_EQ(text_of("abort_rate", row), "0.25");
    EXPECT_EQ(text_of("fallback_rate", row), "0.333333333");
}

TEST(Columns, ShowParametersAsNumbersOrWords) {
    Measurement row;
    row.parameters = {{"n", -5, {}}, {"bytes", 1, "disjoint"}};
    EXPECT_EQ(text_of("n", row), "-5");
    EXPECT_EQ(text_of("bytes", row), "disjoint");
    EXPECT_EQ(text_of("mutation_pct", row), "");
}

TEST(Columns, ListExplicitCodesInOrder) {
    Measurement row;
    row.log.emplace();
    row.log->explicit_codes[0xfd] = 3;
    row.log->explicit_codes[0x01] = 12;
    EXPECT_EQ(text_of("explicit_codes", row), "0x01:12;0xfd:3");
}

TEST(Cells, NeverShowASmallRateAsZero) {
    EXPECT_EQ(to_text(Cell{1.25e-9}), "1.25e-09");
}

}  // namespace
}  // namespace abortscope
