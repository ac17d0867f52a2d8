// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter.hpp"

#include <gtest/gtest.h>

namespace abortscope {
namespace {

TEST(Counter, EachIsFoundByItsColumnAndWithDashes) {
    for (std::size_t i = 0; i < counter_count; ++i) {
        std::string dashed(counter_names[i]);
        for (char& c : dashed) {
            if (c == '_') c = '-';
        }
        EXPECT_EQ(counter_named(counter_names[i]), counter_at(i));
        EXPECT_EQ(counter_named(dashed), counter_at(i));
    }
    EXPECT_EQ(counter_named("tx_starts"), std::nullopt);
    EXPECT_EQ(counter_named(""), std::nullopt);
}

TEST(Counter, TheFourThatTheKernelCountsAreSoftware) {
    EXPECT_FALSE(is_software(Counter::cycles_ct));
    for (const Counter counter : {Counter::task_clock_ns, Counter::context_switches,
                                  Counter::cpu_migrations, Counter::page_faults}) {
        EXPECT_TRUE(is_software(counter));
    }
}

TEST(Reading, AMissingOneHasNoValueAndAReason) {
    const Reading reading = Reading::missing("no PMU");
    EXPECT_FALSE(reading.value.has_value());
    EXPECT_EQ(reading.provenance, Provenance::absent);
    EXPECT_EQ(reading.absent_reason, "no PMU");
    EXPECT_EQ(Reading{}.provenance, Provenance::absent) << "the default is absent, not zero";
}

}  // namespace
}  // namespace abortscope
