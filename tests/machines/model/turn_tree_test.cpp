// SPDX-License-Identifier: Apache-2.0
//
// The order of turns against an ordered set that does the same.
#include "machines/model/turn_tree.hpp"

#include <gtest/gtest.h>

#include <set>

#include "machines/random.hpp"

namespace abortscope::model {
namespace {

class TurnTrees : public testing::TestWithParam<std::uint32_t> {};

TEST_P(TurnTrees, GiveTheSmallestTimeAndThenTheSmallestCpu) {
    const std::uint32_t cpus = GetParam();
    TurnTree tree(cpus);
    std::set<TurnTree::Key> expected;
    std::vector<TurnTree::Key> key_of(cpus, TurnTree::never);
    Random random(7);
    for (int step = 0; step < 20'000; ++step) {
        ASSERT_EQ(tree.size(), expected.size());
        ASSERT_EQ(tree.empty(), expected.empty());
        ASSERT_EQ(tree.top(), expected.empty() ? TurnTree::never : *expected.begin());
        const auto cpu = static_cast<std::uint32_t>(random.below(cpus));
        const TurnTree::Key key = TurnTree::key(random.below(50), cpu);
        if (key_of[cpu] != TurnTree::never) {
            if (random.below(2) == 0) {
                tree.update(key);
                expected.erase(key_of[cpu]);
                expected.insert(key);
                key_of[cpu] = key;
            } else {
                const TurnTree::Key first = tree.pop();
                ASSERT_EQ(first, *expected.begin());
                expected.erase(first);
                key_of[TurnTree::cpu_of(first)] = TurnTree::never;
            }
        } else if (!expected.empty() && random.below(2) == 0) {
            const TurnTree::Key first = tree.replace_top(key);
            ASSERT_EQ(first, *expected.begin());
            expected.erase(first);
            key_of[TurnTree::cpu_of(first)] = TurnTree::never;
            expected.insert(key);
            key_of[cpu] = key;
        } else {
            tree.insert(key);
            expected.insert(key);
            key_of[cpu] = key;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfAnySize, TurnTrees, testing::Values(1u, 2u, 3u, 8u, 32u, 100u, 512u));

}  // namespace
}  // namespace abortscope::model
