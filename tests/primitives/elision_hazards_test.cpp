// SPDX-License-Identifier: Apache-2.0
//
// Hazards of the 2016 Open vSwitch elision patch as negative tests; its own mistakes are named
// variants, which the same test catches. H3 (a field that is gone from glibc) and H12 (no CPUID
// check) are ruled out by construction: locks watch their own words, and ask rtm_available().
// H8 is H6's system call in another function; H10 needs several workers: on_the_model_test.cpp.
#include <optional>

#include "tests/primitives/elided_lock_fixture.hpp"

namespace abortscope::testing {
namespace {

using M = Scripted;
using ElisionHazards = ElidedLockTest;

// --- H1: destroy went through the patched unlock macro ---

/// The mistake: destroying is unlocking.
struct DestroyIsUnlock : Mutex {
    using Mutex::Mutex;
    ~DestroyIsUnlock() { unlock(); }
};

template <class Inner>
void destroy_a_free_lock_inside_a_section() {
    M::run([] {
        Mutex outer(ovs2016);
        outer.lock();
        {
            std::optional<Inner> inner;
            inner.emplace(ovs2016);
        }
        outer.unlock();
    });
}

TEST_F(ElisionHazards, H1DestroyingAFreeLockLeavesTheTransactionOpen) {
    destroy_a_free_lock_inside_a_section<Mutex>();
    EXPECT_EQ(log().misuses, 0u);
    EXPECT_EQ(log().acquisitions, 1u);
}

TEST_F(ElisionHazards, H1VariantDestroyIsUnlockCommitsTheTransactionEarly) {
    destroy_a_free_lock_inside_a_section<DestroyIsUnlock>();
    EXPECT_EQ(log().misuses, 1u) << "the outer unlock finds its transaction gone";
}

// --- H2: elision watched a guard word inside the rwlock, not its state ---

/// The mistake: the word that is tested is free while readers and writers hold the lock.
class GuardedRwLock : public RwLock<M> {
  public:
    bool is_free() const { return guard_.load(std::memory_order_relaxed) == 0; }
    bool spin_until_free(std::uint32_t) { return true; }

  private:
    M::Atomic<std::uint32_t> guard_{0};
};

template <class Lock>
bool writer_and_elided_reader_coexist() {
    bool coexist = false;
    M::run([&] {
        Lock lock(ovs2016);
        lock.underlying().lock();  // a writer, for real
        coexist = lock.try_lock_shared();
        if (coexist) lock.unlock_shared();
        lock.underlying().unlock();
    });
    return coexist;
}

TEST_F(ElisionHazards, H2AnElidedReaderSubscribesToTheLocksOwnState) {
    EXPECT_FALSE(writer_and_elided_reader_coexist<ReaderWriter>());
}

TEST_F(ElisionHazards, H2VariantGuardWordLetsReadersInBesideAWriter) {
    EXPECT_TRUE((writer_and_elided_reader_coexist<ElidedLock<M, GuardedRwLock>>()));
}

TEST_F(ElisionHazards, H2AReallyHeldLockIsReallyUnlockedInsideAnotherElision) {
    M::run([] {
        ReaderWriter held(ovs2016);
        Mutex elided(ovs2016);
        M::script().outcomes.assign(6, rtm::Status::unspecified());
        held.lock();
        elided.lock();
        EXPECT_TRUE(M::in_transaction());
        held.unlock();
        EXPECT_TRUE(M::in_transaction()) << "the other lock's transaction is not ours to end";
        elided.unlock();
        EXPECT_TRUE(held.is_free());
    });
    EXPECT_EQ(log().misuses, 0u);
    EXPECT_EQ(log().acquisitions, 2u);
}

// --- H4, H5: relocking, and try_lock of a lock that the worker already elides ---

TEST_F(ElisionHazards, H4RelockingAnElidedLockNests) {
    M::run([] {
        Mutex lock(ovs2016);
        lock.lock();
        lock.lock();
        EXPECT_EQ(M::nesting(), 2u);
        lock.unlock();
        lock.unlock();
    });
    EXPECT_EQ(log().elided, 2u);
}

TEST_F(ElisionHazards, H5GlibcsTryLockAbortsInsideATransaction) {
    M::run([] {
        Mutex lock(*find_policy("glibc"));
        bool nested = true;
        lock.lock();
        nested = lock.try_lock();
        EXPECT_FALSE(nested) << "as POSIX wants of a held lock";
        lock.unlock();
    });
    EXPECT_EQ(log().explicit_codes[rtm::code::nested_trylock], 1u);
    EXPECT_EQ(log().fallbacks, 1u);
}

TEST_F(ElisionHazards, H5Ovs2016sTryLockSucceedsOnALockThatItAlreadyElides) {
    M::run([] {
        Mutex lock(ovs2016);
        lock.lock();
        EXPECT_TRUE(lock.try_lock());
        lock.unlock();
        lock.unlock();
    });
    EXPECT_EQ(log().elided, 2u);
}

// --- H6, H7: what makes a system call in the section ends the elision ---

TEST_F(ElisionHazards, H6AFutexCallInASectionAbortsItWithStatusZero) {
    M::run([] {
        Mutex lock(ovs2016);
        M::Atomic<std::uint32_t> condition{0};
        M::script().on_futex_wait = [] {};
        lock.lock();
        M::futex_wait(condition, 0, forever_ns);
        lock.unlock();
    });
    EXPECT_EQ(log().causes[static_cast<std::size_t>(rtm::Cause::other)], 6u);
    EXPECT_EQ(log().fallbacks, 1u);
}

TEST_F(ElisionHazards, H7UnlockingAContendedRealLockAbortsTheElisionInsideIt) {
    unsigned executions = 0;
    M::run([&] {
        Mutex real(ovs2016), elided(ovs2016);
        // A waiter came and went: the word says that somebody may sleep, so unlock makes a call.
        real.underlying().lock();
        M::script().on_futex_wait = [&] { real.underlying().unlock(); };
        real.underlying().lock();
        elided.lock();
        ++executions;
        real.unlock();
        elided.unlock();
    });
    EXPECT_EQ(executions, 7u);
    EXPECT_EQ(log().causes[static_cast<std::size_t>(rtm::Cause::other)], 6u);
    EXPECT_EQ(log().fallbacks, 1u);
}

// --- H9: nesting depth ---

TEST_F(ElisionHazards, H9AnElidedFatWriterNestsOnePlusWorkersDeep) {
    M::run([] {
        Fat lock(4, ovs2016);
        lock.lock();
        EXPECT_EQ(M::nesting(), 5u);
        lock.unlock();
        EXPECT_EQ(M::nesting(), 0u);
    });
    EXPECT_EQ(log().elided, 5u);
    EXPECT_EQ(log().commits, 1u);
}

TEST_F(ElisionHazards, H9BeyondTheNestingLimitTheWriterMutexIsAlwaysTakenForReal) {
    M::run([] {
        Fat lock(7, ovs2016);
        lock.lock();
        EXPECT_EQ(M::nesting(), 7u) << "the slots alone just fit";
        lock.unlock();
        EXPECT_TRUE(lock.is_free());
    });
    EXPECT_EQ(log().fallbacks, 1u);
    EXPECT_EQ(log().causes[static_cast<std::size_t>(rtm::Cause::nested)], 6u);

    M::reset();
    M::run([] {
        Fat lock(8, ovs2016);
        lock.lock();
        EXPECT_EQ(M::nesting(), 7u);
        lock.unlock();
    });
    EXPECT_EQ(log().fallbacks, 2u) << "the writer mutex and the first slot";
}

TEST_F(ElisionHazards, AFatReadersRecursionTakesItsSlotOnce) {
    M::run([] {
        Fat lock(2, ovs2016);
        lock.lock_shared();
        lock.lock_shared();
        EXPECT_EQ(M::nesting(), 1u);
        lock.unlock_shared();
        EXPECT_EQ(M::nesting(), 1u);
        lock.unlock_shared();
        EXPECT_EQ(M::nesting(), 0u);
        EXPECT_TRUE(lock.try_lock());
        EXPECT_FALSE(lock.try_lock_shared()) << "the writer does not read-lock";
        lock.unlock();
    });
    EXPECT_EQ(log().misuses, 0u);
}

TEST_F(ElisionHazards, AFatTryLockThatMeetsAReaderGivesEverythingBack) {
    M::run([] {
        FatRwLock<M, FutexMutex<M>> lock(3);
        M::script().worker = 2;
        lock.lock_shared();
        M::script().worker = 0;
        EXPECT_FALSE(lock.try_lock());
        EXPECT_TRUE(lock.try_lock_shared());
        lock.unlock_shared();
        M::script().worker = 2;
        lock.unlock_shared();
        EXPECT_TRUE(lock.is_free());
    });
}

// --- H11: the unlock of a lock that nobody holds ---

/// The mistake of glibc's and Kleen's unlock: a free word alone decides for XEND.
struct UnlockByWordAlone : Mutex {
    using Mutex::Mutex;
    void unlock() {
        if (underlying().is_free()) {
            M::commit();
        } else {
            underlying().unlock();
        }
    }
};

TEST_F(ElisionHazards, H11UnlockingAFreeLockIsReportedAndNotExecuted) {
    for (const RetryPolicy& policy : retry_policies) {
        M::reset();
        reported_misuses = 0;
        M::run([&] {
            Mutex lock(policy);
            lock.unlock();
            EXPECT_TRUE(lock.try_lock());
            lock.unlock();
        });
        EXPECT_EQ(log().misuses, 1u) << policy.name;
        EXPECT_EQ(reported_misuses, 1u) << policy.name;
        EXPECT_EQ(log().acquisitions, 1u) << policy.name;
    }
}

TEST_F(ElisionHazards, H11VariantWordAloneExecutesXendOutsideATransaction) {
    EXPECT_THROW(M::run([] {
                     UnlockByWordAlone lock(ovs2016);
                     lock.unlock();
                 }),
                 std::logic_error);
}

TEST_F(ElisionHazards, H11APlainLocksMisuseDoesNotEndAnothersTransaction) {
    M::run([] {
        Mutex outer(ovs2016);
        Mutex plain(no_elision);
        outer.lock();
        plain.unlock();
        outer.unlock();
    });
    EXPECT_EQ(log().misuses, 1u) << "told once, by the run that is not undone";
    EXPECT_EQ(log().acquisitions, 1u);
    EXPECT_EQ(log().explicit_codes[rtm::code::state_query], 6u);
}

TEST_F(ElisionHazards, H11AnElidedLocksMisuseInsideATransactionIsFoundOneUnlockLater) {
    M::run([] {
        Mutex outer(ovs2016), other(ovs2016);
        outer.lock();
        other.unlock();
        EXPECT_FALSE(M::in_transaction());
        outer.unlock();
    });
    EXPECT_EQ(log().misuses, 1u);
}

}  // namespace
}  // namespace abortscope::testing
