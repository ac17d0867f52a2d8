// SPDX-License-Identifier: Apache-2.0
#include "profiler/row.hpp"

#include <gtest/gtest.h>

#include <array>

namespace abortscope {
namespace {

Reading& reading(Measurement& row, Counter counter) {
    return row.counters[index_of(counter)];
}

TEST(Measurement, WastedCyclesNeedBothCountersAndNeverWrapAround) {
    Measurement row;
    EXPECT_EQ(row.wasted_cycles(), std::nullopt);
    reading(row, Counter::cycles_t) = Reading::of(1000, Provenance::hw);
    EXPECT_EQ(row.wasted_cycles(), std::nullopt);
    reading(row, Counter::cycles_ct) = Reading::of(400, Provenance::hw);
    EXPECT_EQ(row.wasted_cycles(), 600u);
    reading(row, Counter::cycles_ct) = Reading::of(1003, Provenance::hw);
    EXPECT_EQ(row.wasted_cycles(), 0u);
}

TEST(Measurement, AbortRateIsTheLogsAndTheCountersWhereNobodyKeptALog) {
    Measurement row;
    reading(row, Counter::tx_start) = Reading::of(10, Provenance::hw);
    reading(row, Counter::tx_abort) = Reading::of(5, Provenance::hw);
    EXPECT_EQ(row.abort_rate(), 0.5);
    row.log.emplace();
    row.log->attempts = 4;
    row.log->causes[1] = 1;
    EXPECT_EQ(row.abort_rate(), 0.25);
}

TEST(Measurement, TheLemmingIndexIsEmptyForAPlainLock) {
    Measurement row;
    row.log.emplace();
    row.log->acquisitions = 7;
    row.log->fallbacks = 7;
    EXPECT_EQ(row.longest_fallback_run(), std::nullopt);
    EXPECT_EQ(row.fallback_after_fallback_rate(), std::nullopt);
    row.log->attempts = 20;
    EXPECT_EQ(row.longest_fallback_run(), 0u);
}

TEST(Measurement, ItsCounterSourceIsTheWeakestAndIgnoresTheKernels) {
    Measurement row;
    EXPECT_EQ(row.counter_source(), Provenance::absent);
    reading(row, Counter::page_faults) = Reading::of(1, Provenance::hw);
    EXPECT_EQ(row.counter_source(), Provenance::absent);
    reading(row, Counter::tx_start) = Reading::of(1, Provenance::hw);
    EXPECT_EQ(row.counter_source(), Provenance::hw);
    reading(row, Counter::tx_abort) = Reading{1, Provenance::scaled, 40, {}};
    EXPECT_EQ(row.counter_source(), Provenance::scaled);
    EXPECT_EQ(row.counter_running_pct(), 40.0);
}

TEST(Measurement, SaysEachReasonForAbsenceOnce) {
    Measurement row;
    reading(row, Counter::tx_start) = Reading::missing("no PMU in this VM");
    reading(row, Counter::tx_abort) = Reading::missing("no PMU in this VM");
    reading(row, Counter::cycles_ct) = Reading::missing("not on this CPU");
    EXPECT_EQ(row.absent_reason(), "no PMU in this VM; not on this CPU");
}

TEST(LogSum, AddsCountsAndKeepsTheLongestRun) {
    std::array<AbortLog, 2> logs{};
    logs[0].record_abort(rtm::Status::conflict());
    logs[0].attempts = 2;
    logs[0].record_commit();
    for (int i = 0; i < 3; ++i) logs[1].record_fallback();
    logs[1].record_abort(rtm::Status::explicit_abort(0x17));
    logs[1].attempts = 1;
    logs[1].misuses = 4;
    AbortLog total;
    for (const AbortLog& log : logs) add(total, log);
    EXPECT_EQ(total.attempts, 3u);
    EXPECT_EQ(total.aborts(), 2u);
    EXPECT_EQ(total.commits, 1u);
    EXPECT_EQ(total.acquisitions, 4u);
    EXPECT_EQ(total.elided, 1u);
    EXPECT_EQ(total.fallbacks, 3u);
    EXPECT_EQ(total.misuses, 4u);
    EXPECT_EQ(total.longest_fallback_run, 3u);
    EXPECT_EQ(total.fallbacks_after_fallback, 2u);
    EXPECT_EQ(total.acquisitions_after_fallback, 2u);
    EXPECT_EQ(total.explicit_codes[0x17], 1u);
    EXPECT_EQ(total.bits[1], 1u);
}

}  // namespace
}  // namespace abortscope
