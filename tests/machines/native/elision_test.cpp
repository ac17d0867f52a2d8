// SPDX-License-Identifier: Apache-2.0
//
// Elided locks on the native machine with emulated instructions: how many times each policy begins
// a transaction before it takes the lock, to the exact attempt; nesting; misuse; the abort log.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <mutex>
#include <string>

#include "machines/native/native_machine.hpp"
#include "primitives/elided_lock.hpp"
#include "primitives/fat_rwlock.hpp"
#include "primitives/futex_mutex.hpp"
#include "tests/machines/native/emulated_rtm_test.hpp"

namespace abortscope::native {
namespace {

using M = NativeMachine;
using Mutex = ElidedLock<M, FutexMutex<M>>;

constexpr std::uint32_t conflict_retry = 0x6;
constexpr std::uint32_t conflict = 0x4;
constexpr std::uint32_t capacity = 0x8;
constexpr std::uint32_t capacity_retry = 0xa;
constexpr std::uint32_t lock_busy = 0xff000001;
constexpr std::uint32_t explicit_code_7 = 0x07000001;
constexpr std::uint32_t nothing = 0x0;
constexpr std::uint32_t retry_alone = 0x2;

class Elision : public EmulatedRtmTest {
  protected:
    void SetUp() override {
        EmulatedRtmTest::SetUp();
        M::log() = AbortLog{};
    }
    void TearDown() override { M::log() = AbortLog{}; }

    static AbortLog& log() { return M::log(); }
};

/// XBEGINs of one lock() whose every attempt aborts with a status, by policy; counted by hand from
/// the sources that the policies name.
struct Attempts {
    const char* policy;
    std::uint32_t status;
    unsigned begins;
};

constexpr Attempts budgets[] = {
    {"none", conflict_retry, 0},

    {"ovs2016", conflict_retry, 10},
    {"ovs2016", conflict, 6},
    {"ovs2016", capacity, 6},
    {"ovs2016", capacity_retry, 10},
    {"ovs2016", lock_busy, 6},
    {"ovs2016", explicit_code_7, 6},
    {"ovs2016", nothing, 6},
    {"ovs2016", retry_alone, 10},

    {"kleen-wait", conflict_retry, 3},
    {"kleen-wait", conflict, 1},
    {"kleen-wait", capacity, 1},
    {"kleen-wait", capacity_retry, 1},
    {"kleen-wait", lock_busy, 3},
    {"kleen-wait", explicit_code_7, 1},
    {"kleen-wait", nothing, 1},
    {"kleen-wait", retry_alone, 3},

    {"glibc", conflict_retry, 3},
    {"glibc", conflict, 1},
    {"glibc", capacity, 1},
    {"glibc", lock_busy, 1},
    {"glibc", nothing, 1},
    {"glibc", retry_alone, 3},

    {"kernel-adapt", conflict_retry, 4},
    {"kernel-adapt", conflict, 1},
    {"kernel-adapt", capacity_retry, 1},
    {"kernel-adapt", lock_busy, 4},
    {"kernel-adapt", explicit_code_7, 1},
    {"kernel-adapt", nothing, 1},
    {"kernel-adapt", retry_alone, 1},

    {"ck", conflict_retry, 5},
    {"ck", conflict, 5},
    {"ck", capacity, 5},
    {"ck", lock_busy, 5},
    {"ck", nothing, 5},

    {"tbb", conflict_retry, 10},
    {"tbb", conflict, 1},
    {"tbb", capacity, 1},
    {"tbb", lock_busy, 1},
    {"tbb", nothing, 1},

    {"dpdk", conflict_retry, 20},
    {"dpdk", capacity, 1},
    {"dpdk", capacity_retry, 20},
    {"dpdk", explicit_code_7, 1},
    {"dpdk", nothing, 1},
    {"dpdk", retry_alone, 20},
};

TEST_F(Elision, EveryPolicyTakesTheLockAfterExactlyItsAttempts) {
    for (const Attempts& row : budgets) {
        SCOPED_TRACE(std::string(row.policy) + " " + std::to_string(row.status));
        log() = AbortLog{};
        const RtmEmulator emulator({abort_at_begin(row.status)});
        Mutex mutex(*find_policy(row.policy));
        mutex.lock();
        EXPECT_FALSE(mutex.is_free()) << "really taken";
        mutex.unlock();
        EXPECT_TRUE(mutex.is_free());
        EXPECT_EQ(emulator.begins(), row.begins);
        EXPECT_EQ(log().attempts, row.begins);
        EXPECT_EQ(log().aborts(), row.begins);
        EXPECT_EQ(log().acquisitions, 1u);
        EXPECT_EQ(log().elided, 0u);
        if (row.begins != 0) {
            const auto cause = static_cast<std::size_t>(rtm::cause_of(rtm::Status{row.status}));
            EXPECT_EQ(log().causes[cause], row.begins);
        }
    }
}

TEST_F(Elision, EveryPolicyElidesWhenAttemptsCommit) {
    for (const RetryPolicy& policy : retry_policies) {
        if (!policy.elides) continue;
        SCOPED_TRACE(policy.name);
        log() = AbortLog{};
        const RtmEmulator emulator;
        Mutex mutex(policy);
        for (int i = 0; i < 5; ++i) {
            mutex.lock();
            // Nobody holds it: the word is only in the read set.
            const bool is_free = mutex.is_free();
            mutex.unlock();
            EXPECT_TRUE(is_free);
        }
        EXPECT_EQ(emulator.commits(), 5u);
        EXPECT_EQ(log().elided, 5u);
        EXPECT_EQ(log().fallbacks, 0u);
    }
}

TEST_F(Elision, ARetryThatCommitsCountsItsAbortsAndItsCommit) {
    const RtmEmulator emulator(
        {abort_at_begin(conflict_retry), abort_at_end(conflict_retry), commit()});
    Mutex mutex(*find_policy("ovs2016"));
    mutex.lock();
    mutex.unlock();
    EXPECT_EQ(emulator.begins(), 3u);
    EXPECT_EQ(log().attempts, 3u);
    EXPECT_EQ(log().aborts(), 2u);
    EXPECT_EQ(log().commits, 1u);
    EXPECT_EQ(log().elided, 1u);
    EXPECT_EQ(log().bits[1], 2u) << "retry";
    EXPECT_EQ(log().bits[2], 2u) << "conflict";
}

TEST_F(Elision, EveryStatusBitIsCountedInItsOwnColumn) {
    for (unsigned bit = 0; bit < rtm::status_bit_count; ++bit) {
        log() = AbortLog{};
        const RtmEmulator emulator({abort_at_begin(1u << bit), commit()});
        Mutex mutex(*find_policy("ck"));
        mutex.lock();
        mutex.unlock();
        for (unsigned other = 0; other < rtm::status_bit_count; ++other) {
            EXPECT_EQ(log().bits[other], other == bit ? 1u : 0u) << bit;
        }
    }
}

TEST_F(Elision, ABusyLockIsSeenInsideTheTransactionAndAbortsWithItsCode) {
    const RtmEmulator emulator;
    FutexMutex<M>* taken = nullptr;
    Mutex mutex(*find_policy("ovs2016"));
    taken = &mutex.underlying();
    taken->lock();
    EXPECT_FALSE(mutex.try_lock());
    taken->unlock();
    EXPECT_EQ(emulator.begins(), 6u) << "ovs2016 probes at once, and XABORT carries no RETRY";
    EXPECT_EQ(log().causes[static_cast<std::size_t>(rtm::Cause::lock_busy)], 6u);
    EXPECT_EQ(log().explicit_codes[0xff], 6u);
}

TEST_F(Elision, AnAdaptivePolicySkipsElisionForAsManyAcquisitionsAsItSays) {
    const RtmEmulator emulator({abort_at_begin(capacity), commit()});
    Mutex mutex(*find_policy("glibc"));
    for (int i = 0; i < 5; ++i) {
        mutex.lock();
        mutex.unlock();
    }
    // One attempt, then the lock for it and for three more, then elided again.
    EXPECT_EQ(emulator.begins(), 2u);
    EXPECT_EQ(log().fallbacks, 4u);
    EXPECT_EQ(log().elided, 1u);
    EXPECT_EQ(log().longest_fallback_run, 4u);
}

TEST_F(Elision, TryLockHasItsOwnBudget) {
    struct Row {
        const char* policy;
        unsigned begins;
        bool succeeds;
    };
    for (const Row& row : {Row{"ovs2016", 10, true}, Row{"kleen-wait", 1, true},
                           Row{"glibc", 1, true}, Row{"ck", 1, false}, Row{"tbb", 10, true}}) {
        const RtmEmulator emulator({abort_at_begin(conflict_retry)});
        Mutex mutex(*find_policy(row.policy));
        EXPECT_EQ(mutex.try_lock(), row.succeeds) << row.policy;
        if (row.succeeds) mutex.unlock();
        EXPECT_EQ(emulator.begins(), row.begins) << row.policy;
        EXPECT_TRUE(mutex.is_free());
    }
}

TEST_F(Elision, StdLockGuardElides) {
    const RtmEmulator emulator;
    Mutex mutex(*find_policy("ovs2016"));
    { const std::lock_guard guard(mutex); }
    EXPECT_EQ(emulator.commits(), 1u);
    EXPECT_EQ(log().elided, 1u);
}

TEST_F(Elision, AFatRwLockOfElidedMutexesNestsThem) {
    const RtmEmulator emulator;
    FatRwLock<M, Mutex> lock(1, *find_policy("ovs2016"));
    lock.lock_shared();
    lock.unlock_shared();
    EXPECT_EQ(log().elided, 1u) << "a reader takes its own slot's mutex";
    lock.lock();
    lock.unlock();
    EXPECT_EQ(emulator.commits(), 2u);
    EXPECT_EQ(log().elided, 3u) << "a writer takes the writers' mutex and every slot's";
}

TEST_F(Elision, SevenNestedLocksAreOneTransactionAndSevenAcquisitions) {
    const RtmEmulator emulator;
    std::deque<Mutex> locks;
    for (unsigned i = 0; i < max_rtm_nesting; ++i) locks.emplace_back(*find_policy("ovs2016"));
    for (Mutex& mutex : locks) mutex.lock();
    for (auto mutex = locks.rbegin(); mutex != locks.rend(); ++mutex) mutex->unlock();
    EXPECT_EQ(emulator.begins(), 1u);
    EXPECT_EQ(emulator.nested_begins(), max_rtm_nesting - 1);
    EXPECT_EQ(emulator.commits(), 1u);
    EXPECT_EQ(log().attempts, 1u);
    EXPECT_EQ(log().elided, max_rtm_nesting);
}

TEST_F(Elision, AnEighthNestedLockEndsInTheOutermostOnesFallback) {
    const RtmEmulator emulator;
    std::deque<Mutex> locks;
    for (unsigned i = 0; i < max_rtm_nesting + 1; ++i) locks.emplace_back(*find_policy("tbb"));
    for (Mutex& mutex : locks) mutex.lock();
    const bool outermost_is_real = !locks.front().is_free();
    const unsigned depth = emulator.depth();
    for (auto mutex = locks.rbegin(); mutex != locks.rend(); ++mutex) mutex->unlock();
    EXPECT_TRUE(outermost_is_real);
    EXPECT_EQ(depth, max_rtm_nesting) << "the other seven elide";
    EXPECT_EQ(log().causes[static_cast<std::size_t>(rtm::Cause::nested)], 1u);
    EXPECT_EQ(log().fallbacks, 1u);
    EXPECT_EQ(log().elided, max_rtm_nesting);
    for (Mutex& mutex : locks) EXPECT_TRUE(mutex.is_free());
}

TEST_F(Elision, UnlockingWhatNobodyHoldsIsReportedAndNoXendIsExecuted) {
    static const void* reported = nullptr;
    reported = nullptr;
    const MisuseHandler before = set_misuse_handler([](const void* lock) { reported = lock; });
    const RtmEmulator emulator;
    Mutex mutex(*find_policy("ovs2016"));
    mutex.unlock();
    EXPECT_EQ(reported, &mutex);
    EXPECT_EQ(log().misuses, 1u);
    EXPECT_EQ(emulator.commits(), 0u);

    mutex.lock();
    mutex.unlock();
    mutex.unlock();  // once too often
    EXPECT_EQ(log().misuses, 2u);
    EXPECT_EQ(emulator.commits(), 1u);
    EXPECT_TRUE(mutex.is_free());
    set_misuse_handler(before);
}

TEST_F(Elision, AMachineWhoseTransactionsNeverCommitHasThePlainLock) {
    const RtmEmulator emulator;
    pretend_rtm_commits(false);
    Mutex mutex(*find_policy("ovs2016"));
    EXPECT_FALSE(mutex.elides());
    mutex.lock();
    EXPECT_FALSE(mutex.is_free());
    mutex.unlock();
    EXPECT_EQ(emulator.begins(), 0u);
    EXPECT_EQ(log().attempts, 0u);
}

}  // namespace
}  // namespace abortscope::native
