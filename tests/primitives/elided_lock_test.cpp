// SPDX-License-Identifier: Apache-2.0
//
// What an elided lock does to the lock, the transaction and the log.
#include "primitives/elided_lock.hpp"

#include "tests/primitives/elided_lock_fixture.hpp"

namespace abortscope::testing {
namespace {

using M = Scripted;

TEST_F(ElidedLockTest, AnElidedSectionNeverWritesTheLock) {
    M::run([] {
        Mutex lock(ovs2016);
        lock.lock();
        EXPECT_TRUE(M::in_transaction());
        EXPECT_TRUE(lock.underlying().is_free());
        lock.unlock();
        EXPECT_FALSE(M::in_transaction());
    });
    EXPECT_EQ(log().commits, 1u);
    EXPECT_EQ(log().elided, 1u);
    EXPECT_EQ(log().acquisitions, 1u);
    EXPECT_EQ(log().fallbacks, 0u);
}

TEST_F(ElidedLockTest, AnAbortInTheSectionUndoesItsStoresAndRunsItAgain) {
    unsigned executions = 0;
    std::uint64_t result = 0;
    M::run([&] {
        Mutex lock(ovs2016);
        M::Cell<std::uint64_t> counter{0};
        lock.lock();
        counter += 1;
        if (++executions <= 3) M::abort_now(rtm::Status::conflict());
        lock.unlock();
        result = counter;
    });
    EXPECT_EQ(executions, 4u);
    EXPECT_EQ(result, 1u);
    EXPECT_EQ(log().attempts, 4u);
    EXPECT_EQ(log().causes[static_cast<std::size_t>(rtm::Cause::conflict)], 3u);
}

TEST_F(ElidedLockTest, TheSectionRunsUnderTheRealLockWhenThePolicyGivesUp) {
    unsigned executions = 0;
    M::run([&] {
        Mutex lock(ovs2016);
        lock.lock();
        ++executions;
        M::system_call(SystemCall::null);  // status 0, each time
        EXPECT_FALSE(lock.underlying().is_free());
        lock.unlock();
        EXPECT_TRUE(lock.underlying().is_free());
    });
    EXPECT_EQ(executions, 7u) << "six wasted runs and the real one";
    EXPECT_EQ(log().causes[static_cast<std::size_t>(rtm::Cause::other)], 6u);
    EXPECT_EQ(log().fallbacks, 1u);
    EXPECT_EQ(log().acquisitions, 1u);
}

TEST_F(ElidedLockTest, OneOutermostCommitStandsForEveryNestedAcquisition) {
    M::run([] {
        Mutex first(ovs2016), second(ovs2016), third(ovs2016);
        first.lock();
        second.lock();
        third.lock();
        EXPECT_EQ(M::nesting(), 3u);
        third.unlock();
        first.unlock();  // in any order
        EXPECT_EQ(log().elided, 0u) << "nothing is counted before the outermost commit";
        second.unlock();
    });
    EXPECT_EQ(log().attempts, 1u);
    EXPECT_EQ(log().commits, 1u);
    EXPECT_EQ(log().elided, 3u);
    EXPECT_EQ(log().acquisitions, 3u);
}

TEST_F(ElidedLockTest, AnAbortDropsNestedAcquisitionsThatItUndid) {
    unsigned executions = 0;
    M::run([&] {
        Mutex outer(ovs2016), inner(ovs2016);
        outer.lock();
        inner.lock();
        inner.unlock();
        if (++executions == 1) M::abort_now(rtm::Status::conflict());
        outer.unlock();
    });
    EXPECT_EQ(log().acquisitions, 2u);
    EXPECT_EQ(log().elided, 2u);
}

TEST_F(ElidedLockTest, ABusyInnerLockAbortsTheOutermostAttempt) {
    M::run([] {
        Mutex outer(ovs2016), inner(ovs2016);
        inner.underlying().lock();
        unsigned executions = 0;
        M::script().on_futex_wait = [&] { inner.underlying().unlock(); };
        outer.lock();
        ++executions;  // on the worker's stack: undone with each abort
        inner.lock();
        EXPECT_EQ(executions, 1u);
        inner.unlock();
        outer.unlock();
    });
    EXPECT_EQ(log().explicit_codes[0xff], 12u) << "six by the outer loop, six by the inner one";
    EXPECT_EQ(log().bits[5], 6u) << "nested";
    EXPECT_EQ(log().fallbacks, 2u);
    EXPECT_EQ(log().acquisitions, 2u);
}

TEST_F(ElidedLockTest, APlainLockInsideATransactionBelongsToIt) {
    M::run([] {
        Mutex outer(ovs2016);
        Mutex plain(no_elision);
        outer.lock();
        plain.lock();
        EXPECT_FALSE(plain.underlying().is_free());
        plain.unlock();
        EXPECT_TRUE(M::in_transaction());
        outer.unlock();
    });
    EXPECT_EQ(log().acquisitions, 2u);
    EXPECT_EQ(log().elided, 2u);
    EXPECT_EQ(log().fallbacks, 0u);
}

TEST_F(ElidedLockTest, OnAMachineWithoutRtmItIsThePlainLock) {
    M::script().rtm = false;
    M::run([] {
        Mutex lock(ovs2016);
        EXPECT_FALSE(lock.elides());
        lock.lock();
        EXPECT_FALSE(lock.underlying().is_free());
        EXPECT_FALSE(lock.try_lock());
        lock.unlock();
    });
    EXPECT_EQ(log().attempts, 0u);
    EXPECT_EQ(log().acquisitions, 1u);
    EXPECT_EQ(log().fallbacks, 1u);
    EXPECT_EQ(log().longest_fallback_run, 0u) << "only policies that elide feed the lemming index";
}

TEST_F(ElidedLockTest, TheLemmingIndexCountsFallbacksThatFollowFallbacks) {
    M::script().outcomes.assign(2, rtm::Status::unspecified());
    M::run([] {
        Mutex lock(*find_policy("glibc"));
        for (int i = 0; i < 5; ++i) {  // aborts, skips three, and aborts again
            lock.lock();
            lock.unlock();
        }
    });
    EXPECT_EQ(log().longest_fallback_run, 5u);
    EXPECT_EQ(log().acquisitions_after_fallback, 4u);
    EXPECT_EQ(log().fallbacks_after_fallback, 4u);
}

TEST_F(ElidedLockTest, TheSkipCounterSharesNoLineWithWhatAnElidedSectionReads) {
    // Everything that lock and unlock read in a transaction ends where the last line begins.
    constexpr std::size_t line = 64;
    static_assert(sizeof(Mutex) == 2 * line && alignof(Mutex) == line);
    static_assert(sizeof(FutexMutex<M>) + sizeof(const RetryPolicy*) + sizeof(bool) <= line);
}

TEST_F(ElidedLockTest, AReaderWriterLockIsElidedOnlyWhereItsWordIsWhollyFree) {
    M::run([] {
        ReaderWriter lock(ovs2016);
        lock.lock_shared();
        EXPECT_TRUE(M::in_transaction());
        lock.unlock_shared();
        lock.underlying().lock_shared();  // another reader, for real
        lock.lock_shared();
        EXPECT_FALSE(M::in_transaction()) << "unlock could not tell elided from real";
        lock.unlock_shared();
        EXPECT_FALSE(lock.is_free());
        lock.underlying().unlock_shared();
        EXPECT_TRUE(lock.is_free());
    });
    EXPECT_EQ(log().elided, 1u);
    EXPECT_EQ(log().fallbacks, 1u);
    EXPECT_EQ(log().misuses, 0u);
}

}  // namespace
}  // namespace abortscope::testing
