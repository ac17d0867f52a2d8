// SPDX-License-Identifier: Apache-2.0
#include "scenarios/removal_ledger.hpp"

#include <gtest/gtest.h>

#include "profiler/scenario.hpp"

namespace abortscope {
namespace {

TEST(RemovalLedger, AcceptsExactlyTheRemovedKeysGone) {
    RemovalLedger ledger(2, 200);
    std::vector<std::uint32_t> left;
    for (std::uint32_t key = 0; key < 200; ++key) {
        if (key % 3 == 0) {
            ledger.record(key % 2, key);
        } else {
            left.push_back(199 - key);
        }
    }
    EXPECT_THROW(ledger.check(left), CheckFailed);
    for (std::uint32_t& key : left) key = 199 - key;
    EXPECT_NO_THROW(ledger.check(left));
}

TEST(RemovalLedger, RefusesALostKey) {
    const RemovalLedger ledger(1, 3);
    EXPECT_NO_THROW(ledger.check({2, 0, 1}));
    EXPECT_THROW(ledger.check({0, 1}), CheckFailed);
}

TEST(RemovalLedger, RefusesAKeyThatIsThereTwice) {
    const RemovalLedger ledger(1, 3);
    EXPECT_THROW(ledger.check({0, 1, 2, 2}), CheckFailed);
}

TEST(RemovalLedger, RefusesAKeyThatNobodyInserted) {
    const RemovalLedger ledger(1, 3);
    EXPECT_THROW(ledger.check({0, 1, 2, 3}), CheckFailed);
}

TEST(RemovalLedger, RefusesARemovedKeyThatIsStillThere) {
    RemovalLedger ledger(1, 3);
    ledger.record(0, 1);
    EXPECT_THROW(ledger.check({0, 1, 2}), CheckFailed);
    EXPECT_NO_THROW(ledger.check({0, 2}));
}

TEST(RemovalLedger, RefusesAKeyThatWasRemovedTwice) {
    RemovalLedger ledger(2, 3);
    ledger.record(0, 1);
    EXPECT_THROW(ledger.record(0, 1), CheckFailed);
    ledger.record(1, 1);
    EXPECT_THROW(ledger.check({0, 2}), CheckFailed);
    ledger.clear();
    EXPECT_NO_THROW(ledger.check({0, 1, 2}));
}

}  // namespace
}  // namespace abortscope
