// SPDX-License-Identifier: Apache-2.0
#include "studies/shootout/shootout.hpp"

#include <gtest/gtest.h>

#include <array>

namespace abortscope {
namespace {

TEST(JainIndex, IsOneForEqualSharesAndOneNthForOneWhoHasAll) {
    EXPECT_DOUBLE_EQ(*jain_index(std::array<std::uint64_t, 3>{5, 5, 5}), 1);
    EXPECT_DOUBLE_EQ(*jain_index(std::array<std::uint64_t, 4>{0, 0, 8, 0}), 0.25);
    EXPECT_DOUBLE_EQ(*jain_index(std::array<std::uint64_t, 2>{1, 3}), 0.8);
    EXPECT_FALSE(jain_index(std::array<std::uint64_t, 2>{0, 0}).has_value());
    EXPECT_FALSE(jain_index({}).has_value());
}

Contestant contestant(double speed, std::optional<double> wasted) {
    Contestant result;
    result.operations_per_s = speed;
    result.wasted_share = wasted;
    return result;
}

TEST(ParetoFront, HasWhoNobodyBeatsInBoth) {
    std::vector<Contestant> all{contestant(10, 0.5), contestant(8, 0.1), contestant(7, 0.2),
                                contestant(10, 0.6), contestant(1, 0.0), contestant(99, {})};
    mark_front(all);
    EXPECT_TRUE(all[0].on_front);
    EXPECT_TRUE(all[1].on_front);
    EXPECT_FALSE(all[2].on_front) << "slower and more wasteful than the second";
    EXPECT_FALSE(all[3].on_front) << "as fast as the first, more wasteful";
    EXPECT_TRUE(all[4].on_front);
    EXPECT_FALSE(all[5].on_front) << "its waste was not measured";
}

TEST(ParetoFront, TwinsAreBothOnIt) {
    std::vector<Contestant> all{contestant(10, 0.5), contestant(10, 0.5)};
    mark_front(all);
    EXPECT_TRUE(all[0].on_front && all[1].on_front);
}

}  // namespace
}  // namespace abortscope
