// SPDX-License-Identifier: Apache-2.0
#include "reports/statistics.hpp"

#include <gtest/gtest.h>

namespace abortscope {
namespace {

using Values = std::vector<double>;

TEST(Statistics, MedianIsTheMiddle) {
    EXPECT_EQ(median({}), std::nullopt);
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

// Expected values: counted over all ways to split the values in two.
TEST(MannWhitney, IsExactForSmallSamples) {
    EXPECT_NEAR(mann_whitney_p(Values{1, 2, 3}, Values{4, 5, 6}), 0.1, 1e-12);
    EXPECT_NEAR(mann_whitney_p(Values{1, 2, 3, 4, 5}, Values{6, 7, 8, 9, 10}), 2.0 / 252, 1e-12);
    EXPECT_NEAR(mann_whitney_p(Values{1, 3, 5, 7}, Values{2, 4, 6, 8}), 0.685714285714, 1e-9);
    EXPECT_NEAR(mann_whitney_p(Values{6, 7, 8, 9, 10}, Values{1, 2, 3, 4, 5}), 2.0 / 252, 1e-12);
}

TEST(MannWhitney, CountsTiesByMidranks) {
    EXPECT_EQ(mann_whitney_p(Values{5, 5, 5}, Values{5, 5, 5}), 1);
    // Of the 6 ways to choose 2 of the ranks 1.5, 1.5, 3.5, 3.5, one sums to 3 and one to 7.
    EXPECT_NEAR(mann_whitney_p(Values{1, 1}, Values{2, 2}), 2.0 / 6, 1e-12);
}

TEST(MannWhitney, ApproximatesLargeSamplesWell) {
    const auto shifted = [](double by) {
        Values values;
        for (int i = 0; i < 55; ++i) values.push_back(i + by);
        return values;
    };
    EXPECT_NEAR(mann_whitney_p(shifted(0), shifted(4.5)), 0.157106, 0.003);
    EXPECT_NEAR(mann_whitney_p(shifted(0), shifted(6.5)), 0.044266, 0.003);
}

TEST(MannWhitney, OfNothingProvesNothing) {
    EXPECT_EQ(mann_whitney_p({}, Values{1, 2, 3}), 1);
}

TEST(MannWhitney, TheSmallestPIsThatOfCompleteSeparation) {
    EXPECT_NEAR(smallest_p(3, 3), 0.1, 1e-12);
    EXPECT_NEAR(smallest_p(5, 5), 2.0 / 252, 1e-12);
    EXPECT_EQ(smallest_p(1, 1), 1);
    EXPECT_EQ(smallest_p(0, 5), 1);
}

TEST(Bootstrap, HoldsTheMedianAndIsTheSameEveryTime) {
    const Values values{10, 11, 12, 13, 14, 15, 16};
    const Interval interval = median_interval(values);
    EXPECT_LE(interval.low, 13);
    EXPECT_GE(interval.high, 13);
    EXPECT_GT(interval.high, interval.low);
    EXPECT_EQ(interval.low, median_interval(values).low);
    EXPECT_EQ(interval.high, median_interval(values).high);
}

TEST(Bootstrap, OfTwoValuesIsTheirRange) {
    EXPECT_EQ(median_interval(Values{7, 3}).low, 3);
    EXPECT_EQ(median_interval(Values{7, 3}).high, 7);
}

TEST(Bootstrap, OfADifferenceAndARatioSeparatesWhatIsFarApart) {
    const Values a{100, 101, 102, 103, 104};
    const Values b{110, 111, 112, 113, 114};
    const Interval difference = difference_interval(a, b);
    EXPECT_GT(difference.low, 5);
    EXPECT_LT(difference.high, 15);
    const std::optional<Interval> ratio = ratio_interval(a, b);
    ASSERT_TRUE(ratio.has_value());
    EXPECT_GT(ratio->low, 1.05);
    EXPECT_LT(ratio->high, 1.15);
    EXPECT_EQ(ratio_interval(Values{0, 0, 0}, b), std::nullopt);
}

}  // namespace
}  // namespace abortscope
