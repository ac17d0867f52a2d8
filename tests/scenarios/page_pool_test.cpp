// SPDX-License-Identifier: Apache-2.0
#include "scenarios/page_pool.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "machines/native/native_machine.hpp"
#include "machines/native/team.hpp"
#include "primitives/tas_spinlock.hpp"

namespace abortscope {
namespace {

using M = native::NativeMachine;
using Pool = PagePool<M, TasSpinlock<M>>;

TEST(PagePool, HasEachPageOnceAfterWorkersHaveMixedThem) {
    Pool pool(make_owned<M, TasSpinlock<M>>("lock"), 200, 0);
    std::vector<Pool::Magazine> magazines;
    for (unsigned worker = 0; worker < 4; ++worker) magazines.push_back(pool.magazine(50));
    std::vector<ExclusionWitness> witnesses(4);
    native::Team team(4, {});
    team.run(4, [&](unsigned worker) {
        for (unsigned round = 0; round < 500; ++round) {
            pool.take(magazines[worker], 30, witnesses[worker]);
            pool.give_back(magazines[worker], 10, witnesses[worker]);
            pool.take(magazines[worker], 20, witnesses[worker]);
            pool.give_back(magazines[worker], 40, witnesses[worker]);
        }
    });
    EXPECT_NO_THROW(pool.check());
    EXPECT_NO_THROW(require_excluded(pool.exclusion(), witnesses));
    EXPECT_EQ(witnesses[3].exclusive_sections, 4u * 500u);
}

TEST(PagePool, NoticesAPageThatDidNotComeBack) {
    Pool pool(make_owned<M, TasSpinlock<M>>("lock"), 20, 0);
    Pool::Magazine magazine = pool.magazine(10);
    ExclusionWitness witness;
    pool.take(magazine, 10, witness);
    pool.give_back(magazine, 9, witness);
    EXPECT_THROW(pool.check(), CheckFailed);
    pool.give_back(magazine, 1, witness);
    EXPECT_NO_THROW(pool.check());
}

TEST(PagePool, NoticesAPageThatCameBackTwice) {
    Pool pool(make_owned<M, TasSpinlock<M>>("lock"), 20, 0);
    Pool::Magazine magazine = pool.magazine(10);
    ExclusionWitness witness;
    pool.take(magazine, 10, witness);
    magazine.pages.get()[3] = magazine.pages.get()[4];
    pool.give_back(magazine, 10, witness);
    EXPECT_THROW(pool.check(), CheckFailed);
}

}  // namespace
}  // namespace abortscope
