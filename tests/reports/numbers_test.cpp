// SPDX-License-Identifier: Apache-2.0
#include "reports/numbers.hpp"

#include <gtest/gtest.h>

namespace abortscope {
namespace {

TEST(Numbers, GroupThousands) {
    EXPECT_EQ(with_thousands(0), "0");
    EXPECT_EQ(with_thousands(999), "999");
    EXPECT_EQ(with_thousands(1000), "1,000");
    EXPECT_EQ(with_thousands(1234567), "1,234,567");
}

TEST(Numbers, NeverShowASmallShareAsNothing) {
    EXPECT_EQ(percent(0), "0.0");
    EXPECT_EQ(percent(0.0001), "<0.1");
    EXPECT_EQ(percent(0.0791), "7.9");
    EXPECT_EQ(percent(1), "100.0");
}

TEST(Numbers, ShowThreeDigitsOfTheSmallestDuration) {
    EXPECT_EQ(scaled(78'012'345, duration_scale(1'300'000, 78'012'345)), "78.01");
    EXPECT_EQ(scaled(1'300'000, duration_scale(1'300'000, 78'012'345)), "1.30");
    EXPECT_EQ(scaled(780e6, duration_scale(120e6, 780e6)), "780");
    EXPECT_EQ(duration_scale(10, 900).unit, "ns");
    EXPECT_EQ(duration_scale(10, 9000).unit, "us");
}

TEST(Numbers, ScaleRates) {
    EXPECT_EQ(scaled(14'496'000, rate_scale(5'664'000, 14'496'000)), "14.50");
    EXPECT_EQ(rate_scale(5e6, 14e6).unit, "M/s");
    EXPECT_EQ(rate_scale(129, 546).unit, "1/s");
}

}  // namespace
}  // namespace abortscope
