// SPDX-License-Identifier: Apache-2.0
//
// The locks that sleep: exclusion and no lost wake-up on real threads, and the state tables of
// their headers on the scripted machine.
#include <gtest/gtest.h>

#include "primitives/elided_lock.hpp"
#include "primitives/fat_rwlock.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/rw_lock.hpp"
#include "tests/primitives/scripted_machine.hpp"
#include "tests/primitives/stress.hpp"

namespace abortscope::testing {
namespace {

class SleepingLocks : public ::testing::TestWithParam<unsigned> {};

TEST_P(SleepingLocks, FutexMutexExcludes) {
    FutexMutex<Native> lock;
    stress_exclusive(lock, GetParam());
    EXPECT_TRUE(lock.is_free());
}

TEST_P(SleepingLocks, RwLockExcludesWriters) {
    RwLock<Native> lock;
    stress_exclusive(lock, GetParam());
    EXPECT_TRUE(lock.is_free());
}

TEST_P(SleepingLocks, RwLockKeepsReadersAndWritersApart) {
    RwLock<Native> lock;
    stress_shared(lock, GetParam());
    EXPECT_TRUE(lock.is_free());
}

TEST_P(SleepingLocks, FatRwLockKeepsReadersAndWritersApart) {
    FatRwLock<Native, FutexMutex<Native>> lock(GetParam());
    stress_shared(lock, GetParam());
    EXPECT_TRUE(lock.is_free());
}

TEST_P(SleepingLocks, UnderEveryPolicyTheyStillExclude) {
    for (const RetryPolicy& policy : retry_policies) {
        ElidedLock<Native, FutexMutex<Native>> mutex(policy);
        stress_exclusive(mutex, GetParam(), stress_rounds / 8);
        ElidedLock<Native, RwLock<Native>> rwlock(policy);
        stress_shared(rwlock, GetParam(), stress_rounds / 8);
        FatRwLock<Native, ElidedLock<Native, FutexMutex<Native>>> fat(GetParam(), policy);
        stress_shared(fat, GetParam(), stress_rounds / 8);
    }
}

INSTANTIATE_TEST_SUITE_P(Threads, SleepingLocks, ::testing::ValuesIn(stress_threads));

TEST(FutexMutexStates, WakesOnlyWhenSomebodyMaySleep) {
    using M = ScriptedMachine;
    M::reset();
    M::run([] {
        FutexMutex<M> lock;
        lock.lock();
        lock.unlock();
        EXPECT_EQ(M::script().futex_wakes, 0u) << "0 -> 1 -> 0 makes no system call";
        lock.lock();
        M::script().on_futex_wait = [&] { lock.unlock(); };
        lock.lock();  // sleeps until the hook unlocks
        EXPECT_EQ(M::script().futex_wakes, 1u);
        lock.unlock();
        EXPECT_EQ(M::script().futex_wakes, 2u) << "the woken one wakes the next";
        EXPECT_TRUE(lock.try_lock());
        EXPECT_FALSE(lock.try_lock());
        lock.unlock();
        EXPECT_EQ(M::script().futex_wakes, 2u);
    });
}

TEST(RwLockStates, AMarkedWriterKeepsNewReadersOut) {
    using M = ScriptedMachine;
    M::reset();
    M::run([] {
        RwLock<M> lock;
        EXPECT_TRUE(lock.try_lock_shared());
        EXPECT_TRUE(lock.try_lock_shared());
        EXPECT_FALSE(lock.try_lock());
        lock.unlock_shared();
        M::script().on_futex_wait = [&] {
            EXPECT_FALSE(lock.try_lock_shared());
            lock.unlock_shared();
        };
        lock.lock();  // sleeps until the hook's reader leaves
        EXPECT_FALSE(lock.try_lock_shared());
        EXPECT_FALSE(lock.try_lock());
        lock.unlock();
        EXPECT_TRUE(lock.is_free());
        EXPECT_TRUE(lock.try_lock_shared());
        lock.unlock_shared();
    });
}

}  // namespace
}  // namespace abortscope::testing
