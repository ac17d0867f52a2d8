// SPDX-License-Identifier: Apache-2.0
#include "profiler/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace abortscope {
namespace {

constexpr std::array<std::string_view, 4> names{"ovs-hmap", "ovs-cmap", "rtm-conflict", "up"};

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("abc", "ac"), 1u);
    EXPECT_EQ(edit_distance("abc", "abcd"), 1u);
    EXPECT_EQ(edit_distance("abc", "axc"), 1u);
    EXPECT_EQ(edit_distance("ovs-hmpa", "ovs-hmap"), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsTheNameThatWasMistyped) {
    EXPECT_EQ(nearest("ovs-hmpa", names), "ovs-hmap");
    EXPECT_EQ(nearest("ovs_cmap", names), "ovs-cmap");
    EXPECT_EQ(nearest("rtm", names), "rtm-conflict");
}

TEST(Nearest, OffersNothingWhereNothingIsNear) {
    EXPECT_EQ(nearest("zzzzzzzz", names), "");
    EXPECT_EQ(nearest("xy", names), "");
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest(std::string(100'000, 'o'), names), "");
}

TEST(UnknownName, SuggestsOrListsTheNames) {
    EXPECT_EQ(unknown_name("scenario", "ovs-hmpa", names),
              "unknown scenario 'ovs-hmpa'; did you mean 'ovs-hmap'?");
    EXPECT_EQ(unknown_name("scenario", "zzzzzzzz", names),
              "unknown scenario 'zzzzzzzz'; there are: ovs-hmap, ovs-cmap, rtm-conflict, up");
}

TEST(InQuotes, IsOneShortLineWhateverWasTyped) {
    EXPECT_EQ(in_quotes("a\nb\x1b[31m"), "'a?b?[31m'");
    EXPECT_EQ(in_quotes("\xff-\xc3"), "'?-?'");
    EXPECT_LT(in_quotes(std::string(300, '9')).size(), 50u);
}

}  // namespace
}  // namespace abortscope
