// SPDX-License-Identifier: Apache-2.0
//
// What the semaphores do beside excluding: who queues, who is woken, who starves.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "primitives/rwsem.hpp"
#include "primitives/rwsem_handoff.hpp"
#include "tests/primitives/model_trial.hpp"
#include "tests/primitives/stress.hpp"

namespace abortscope::testing {
namespace {

template <class Lock>
class RwsemTest : public OnTheModel {};

using EveryRwsem = ::testing::Types<Rwsem<Model, ReadTryLock::read_first>,
                                    Rwsem<Model, ReadTryLock::cas_first>, RwsemHandoff<Model>>;
TYPED_TEST_SUITE(RwsemTest, EveryRwsem);

TYPED_TEST(RwsemTest, TryLockFollowsTheStateTable) {
    ModelTrial trial(1);
    auto lock = make_owned<Model, TypeParam>("lock", 1u);
    trial.run([&](unsigned) {
        EXPECT_TRUE(lock->is_free());
        EXPECT_TRUE(lock->try_lock_shared());
        EXPECT_TRUE(lock->try_lock_shared());
        EXPECT_FALSE(lock->is_free());
        EXPECT_FALSE(lock->try_lock());
        lock->unlock_shared();
        lock->unlock_shared();
        EXPECT_TRUE(lock->try_lock());
        EXPECT_FALSE(lock->try_lock());
        EXPECT_FALSE(lock->try_lock_shared());
        lock->downgrade();
        EXPECT_TRUE(lock->try_lock_shared());
        EXPECT_FALSE(lock->try_lock());
        lock->unlock_shared();
        lock->unlock_shared();
        EXPECT_TRUE(lock->is_free());
    });
}

TYPED_TEST(RwsemTest, AReadTryLockFailsBehindAQueuedWriterThoughReadersHold) {
    ModelTrial trial(3);
    auto lock = make_owned<Model, TypeParam>("lock", 3u);
    bool before = false, behind = true;
    trial.run([&](unsigned worker) {
        at_ns(50'000 * (worker + 1));
        if (worker == 0) {
            lock->lock_shared();
            before = lock->try_lock_shared();
            if (before) lock->unlock_shared();
            at_ns(1'000'000);
            lock->unlock_shared();
        } else if (worker == 1) {
            lock->lock();  // queues
            lock->unlock();
        } else {
            behind = lock->try_lock_shared();
        }
    });
    EXPECT_TRUE(before);
    EXPECT_FALSE(behind);
}

TYPED_TEST(RwsemTest, QueuedReadersAreWokenTogetherAndBeforeTheWriterBehindThem) {
    constexpr unsigned workers = 5;
    ModelTrial trial(workers);
    auto lock = make_owned<Model, TypeParam>("lock", workers);
    std::vector<std::uint64_t> got(workers);
    auto inside = make_owned<Model, Model::Atomic<unsigned>>("inside", 0u);
    unsigned most_readers = 0;
    trial.run([&](unsigned worker) {
        at_ns(50'000 * (worker + 1));
        if (worker == 0 || worker == 4) {
            lock->lock();
            got[worker] = Model::now_ns();
            if (worker == 0) at_ns(1'000'000);
            lock->unlock();
            return;
        }
        lock->lock_shared();
        got[worker] = Model::now_ns();
        most_readers = std::max(most_readers, inside->fetch_add(1) + 1);
        Model::compute(300'000);
        inside->fetch_sub(1);
        lock->unlock_shared();
    });
    EXPECT_EQ(most_readers, 3u);
    for (unsigned reader : {1u, 2u, 3u}) {
        EXPECT_GE(got[reader], 1'000'000u);
        EXPECT_GT(got[4], got[reader]);
    }
    EXPECT_TRUE(lock->is_free());
}

TYPED_TEST(RwsemTest, DowngradeLetsQueuedReadersInAndNoWriterBetween) {
    ModelTrial trial(3);
    auto lock = make_owned<Model, TypeParam>("lock", 3u);
    std::uint64_t downgraded = 0, reader_in = 0, writer_in = 0, all_out = 0;
    trial.run([&](unsigned worker) {
        at_ns(50'000 * (worker + 1));
        if (worker == 0) {
            lock->lock();
            at_ns(500'000);
            downgraded = Model::now_ns();
            lock->downgrade();
            at_ns(1'000'000);
            all_out = Model::now_ns();
            lock->unlock_shared();
        } else if (worker == 1) {
            lock->lock_shared();
            reader_in = Model::now_ns();
            lock->unlock_shared();
        } else {
            lock->lock();
            writer_in = Model::now_ns();
            lock->unlock();
        }
    });
    EXPECT_GE(reader_in, downgraded);
    EXPECT_LT(reader_in, all_out);
    EXPECT_GE(writer_in, all_out);
}

TYPED_TEST(RwsemTest, NoWakeUpIsLostInAnyOf300Interleavings) {
    // A lost wake-up ends in a Deadlock, which fails the test.
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        constexpr unsigned workers = 6;
        ModelTrial trial(workers, seed, seed % 2 == 0 ? 2 : 0);
        auto lock = make_owned<Model, TypeParam>("lock", workers);
        auto count = make_owned<Model, Model::Cell<std::uint64_t>>("count", 0u);
        trial.run([&](unsigned worker) {
            for (unsigned round = 0; round < 30; ++round) {
                if ((round + worker) % 3 == 0) {
                    lock->lock();
                    *count += 1u;
                    if (round % 6 == 0) {
                        lock->downgrade();
                        lock->unlock_shared();
                    } else {
                        lock->unlock();
                    }
                } else {
                    lock->lock_shared();
                    Model::compute(200);
                    lock->unlock_shared();
                }
            }
        });
        ASSERT_EQ(static_cast<std::uint64_t>(*count), 6u * 10u) << seed;
        ASSERT_TRUE(lock->is_free()) << seed;
    }
}

// --- who starves ---

using RwsemFairness = OnTheModel;

/// Workers 1.. take the lock for writing again and again, for 20 us each; worker 0 comes later and
/// wants it once. How long it waits, in ns of virtual time.
template <class Lock>
std::uint64_t wait_among_writers(std::uint64_t seed) {
    constexpr unsigned workers = 4;
    ModelTrial trial(workers, seed);
    auto lock = make_owned<Model, Lock>("lock", workers);
    auto done = make_owned<Model, Model::Atomic<std::uint32_t>>("done", 0u);
    std::uint64_t waited = 0;
    trial.run([&](unsigned worker) {
        if (worker == 0) {
            at_ns(200'000);
            const std::uint64_t start = Model::now_ns();
            lock->lock();
            waited = Model::now_ns() - start;
            lock->unlock();
            done->store(1);
            return;
        }
        while (done->load() == 0 && Model::now_ns() < 100'000'000) {
            lock->lock();
            Model::compute(68'000);
            lock->unlock();
        }
    });
    return waited;
}

TEST_F(RwsemFairness, AWriterStarvesAmongStealingWritersUntilHandOff) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        EXPECT_GT((wait_among_writers<Rwsem<Model, ReadTryLock::read_first>>(seed)), 50'000'000u)
            << "the 5.0 form: until the others stop";
        const std::uint64_t with_handoff = wait_among_writers<RwsemHandoff<Model>>(seed);
        EXPECT_GE(with_handoff, RwsemHandoff<Model>::handoff_after_ns);
        EXPECT_LT(with_handoff, RwsemHandoff<Model>::handoff_after_ns + 200'000);
    }
}

/// Readers keep the lock read for ever; whether a writer gets in before they give up at 100 ms.
template <class Lock>
std::uint64_t wait_among_readers() {
    constexpr unsigned workers = 4;
    ModelTrial trial(workers);
    auto lock = make_owned<Model, Lock>("lock", workers);
    auto done = make_owned<Model, Model::Atomic<std::uint32_t>>("done", 0u);
    std::uint64_t waited = 0;
    trial.run([&](unsigned worker) {
        if (worker == 0) {
            at_ns(200'000);
            const std::uint64_t start = Model::now_ns();
            lock->lock();
            waited = Model::now_ns() - start;
            lock->unlock();
            done->store(1);
            return;
        }
        while (done->load() == 0 && Model::now_ns() < 100'000'000) {
            lock->lock_shared();
            Model::compute(68'000);
            lock->unlock_shared();
        }
    });
    return waited;
}

TEST_F(RwsemFairness, AQueuedWriterKeepsNewReadersOut) {
    EXPECT_LT((wait_among_readers<Rwsem<Model, ReadTryLock::read_first>>()), 1'000'000u);
    EXPECT_LT(wait_among_readers<RwsemHandoff<Model>>(), 5'000'000u);
}

// --- downgrade on real threads ---

template <class Lock>
class NativeRwsem : public ::testing::Test {};
using NativeRwsems = ::testing::Types<Rwsem<Native, ReadTryLock::read_first>,
                                      Rwsem<Native, ReadTryLock::cas_first>, RwsemHandoff<Native>>;
TYPED_TEST_SUITE(NativeRwsem, NativeRwsems);

TYPED_TEST(NativeRwsem, WhatAWriterWroteStandsUntilItsDowngradedReadEnds) {
    for (unsigned threads : stress_threads) {
        TypeParam lock(threads);
        Guarded shared;
        std::atomic<std::uint64_t> changed{0};
        on_threads(threads, [&](unsigned) {
            for (unsigned round = 0; round < stress_rounds / 8; ++round) {
                lock.lock();
                const std::uint64_t mine = ++shared.first;
                shared.second = mine;
                lock.downgrade();
                if (round % 64 == 0) Native::yield();
                if (shared.first != mine || shared.second != mine) ++changed;
                lock.unlock_shared();
            }
        });
        EXPECT_EQ(changed.load(), 0u);
        EXPECT_EQ(shared.first, std::uint64_t{threads} * (stress_rounds / 8));
        EXPECT_TRUE(lock.is_free());
    }
}

}  // namespace
}  // namespace abortscope::testing
