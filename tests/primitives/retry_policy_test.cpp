// SPDX-License-Identifier: Apache-2.0
//
// Each policy's loop, to the exact attempt, on a machine whose aborts are scripted.
#include "primitives/retry_policy.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>

#include "primitives/elided_lock.hpp"
#include "primitives/futex_mutex.hpp"
#include "tests/primitives/scripted_machine.hpp"

namespace abortscope::testing {
namespace {

using M = ScriptedMachine;
using Lock = ElidedLock<M, FutexMutex<M>>;
using rtm::Status;

constexpr Status retry{0x2};                     // RETRY alone: class other, hint set
constexpr Status conflict = Status::conflict();  // with RETRY
constexpr Status silent_conflict{0x4};           // without
constexpr Status busy = Status::explicit_abort(0xff);
constexpr Status xabort = Status::explicit_abort(0x17);

class RetryPolicyLoop : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_UNDER_THREAD_SANITIZER();
        M::reset();
    }

    static void give(std::initializer_list<std::pair<Status, unsigned>> outcomes) {
        for (const auto& [status, times] : outcomes) {
            for (unsigned i = 0; i < times; ++i) M::script().outcomes.push_back(status);
        }
    }
    /// The attempts of one lock() and unlock() under the policy with these outcomes.
    static unsigned attempts(std::string_view policy,
                             std::initializer_list<std::pair<Status, unsigned>> outcomes) {
        M::reset();
        give(outcomes);
        M::run([&] {
            Lock lock(*find_policy(policy));
            lock.lock();
            lock.unlock();
        });
        EXPECT_EQ(M::script().log.attempts, M::script().begins);
        EXPECT_EQ(M::script().log.aborts() + M::script().log.commits, M::script().log.attempts);
        EXPECT_EQ(M::script().log.acquisitions, 1u);
        return M::script().begins;
    }
    static bool elided() { return M::script().log.elided == 1; }
};

TEST(RetryPolicies, AreFoundByNameAndEachNamesItsSource) {
    std::set<std::string_view> names;
    for (const RetryPolicy& policy : retry_policies) {
        EXPECT_EQ(find_policy(policy.name), &policy);
        EXPECT_FALSE(policy.source.empty());
        EXPECT_FALSE(policy.summary.empty());
        names.insert(policy.name);
    }
    EXPECT_EQ(names.size(), retry_policies.size());
    EXPECT_EQ(find_policy("ovs2015"), nullptr);
    EXPECT_FALSE(no_elision.elides);
}

TEST_F(RetryPolicyLoop, NoneMakesNoAttempt) {
    EXPECT_EQ(attempts("none", {}), 0u);
    EXPECT_EQ(M::script().log.fallbacks, 1u);
}

TEST_F(RetryPolicyLoop, Ovs2016MakesTenAttemptsWithTheRetryHint) {
    EXPECT_EQ(attempts("ovs2016", {{conflict, 20}}), 10u);
    EXPECT_FALSE(elided());
    EXPECT_EQ(attempts("ovs2016", {{conflict, 9}}), 10u);
    EXPECT_TRUE(elided());
}

TEST_F(RetryPolicyLoop, Ovs2016ForgivesFiveAbortsWithoutRetryAndEndsAtTheSixth) {
    for (const Status status : {Status::unspecified(), Status::capacity(), busy, xabort,
                                silent_conflict, Status{0x20}, Status{0x10}}) {
        EXPECT_EQ(attempts("ovs2016", {{status, 20}}), 6u) << status.word();
        EXPECT_FALSE(elided());
        EXPECT_EQ(attempts("ovs2016", {{status, 5}}), 6u) << status.word();
        EXPECT_TRUE(elided());
    }
}

TEST_F(RetryPolicyLoop, Ovs2016KeepsBothBudgetsAtOnce) {
    EXPECT_EQ(attempts("ovs2016", {{conflict, 4}, {Status::unspecified(), 20}}), 10u);
    EXPECT_EQ(attempts("ovs2016", {{conflict, 3}, {Status::unspecified(), 20}}), 9u);
    EXPECT_EQ(attempts("ovs2016", {{Status::unspecified(), 5}, {conflict, 20}}), 10u);
}

TEST_F(RetryPolicyLoop, Ovs2016ProbesABusyLockSixTimesWithoutAPauseThenSleeps) {
    M::run([] {
        Lock lock(*find_policy("ovs2016"));
        lock.underlying().lock();
        M::script().on_futex_wait = [&] { lock.underlying().unlock(); };
        lock.lock();
        lock.unlock();
    });
    const AbortLog& log = M::script().log;
    EXPECT_EQ(log.attempts, 6u);
    EXPECT_EQ(log.causes[static_cast<std::size_t>(rtm::Cause::lock_busy)], 6u);
    EXPECT_EQ(log.explicit_codes[0xff], 6u);
    EXPECT_EQ(M::script().pauses, 0u);
    EXPECT_EQ(log.fallbacks, 1u);
}

TEST_F(RetryPolicyLoop, KleenWaitGivesEachClassItsAttempts) {
    EXPECT_EQ(attempts("kleen-wait", {{conflict, 9}}), 3u);
    EXPECT_EQ(attempts("kleen-wait", {{Status::capacity(), 9}}), 1u);
    EXPECT_EQ(attempts("kleen-wait", {{retry, 9}}), 3u);
    EXPECT_EQ(attempts("kleen-wait", {{busy, 9}}), 3u);
    EXPECT_EQ(attempts("kleen-wait", {{conflict, 2}, {Status::capacity(), 9}}), 3u);
    EXPECT_EQ(attempts("kleen-wait", {{conflict, 1}, {Status::capacity(), 9}}), 2u);
}

TEST_F(RetryPolicyLoop, KleenWaitStopsAtOnceWithoutRetry) {
    EXPECT_EQ(attempts("kleen-wait", {{Status::unspecified(), 9}}), 1u);
    EXPECT_EQ(attempts("kleen-wait", {{xabort, 9}}), 1u);
    EXPECT_EQ(attempts("kleen-wait", {{silent_conflict, 9}}), 1u);
}

TEST_F(RetryPolicyLoop, KleenWaitPausesUntilTheLockIsFreeAndThenElides) {
    M::run([] {
        Lock lock(*find_policy("kleen-wait"));
        lock.underlying().lock();
        M::script().on_pause = [&] {
            if (M::script().pauses == 1000) lock.underlying().unlock();
        };
        lock.lock();
        lock.unlock();
    });
    EXPECT_EQ(M::script().log.attempts, 2u);
    EXPECT_TRUE(elided());
    EXPECT_EQ(M::script().pauses, 1000u);
}

TEST_F(RetryPolicyLoop, GlibcRetriesOnlyOnTheHintAndThenSkipsThreeAcquisitions) {
    EXPECT_EQ(attempts("glibc", {{conflict, 9}}), 3u);
    EXPECT_EQ(attempts("glibc", {{Status::unspecified(), 9}}), 1u);
    M::reset();
    give({{Status::capacity(), 1}});
    M::run([] {
        Lock lock(*find_policy("glibc"));
        for (int i = 0; i < 5; ++i) {
            lock.lock();
            lock.unlock();
        }
    });
    const AbortLog& log = M::script().log;
    EXPECT_EQ(log.attempts, 2u) << "the first, and the fifth";
    EXPECT_EQ(log.fallbacks, 4u);
    EXPECT_EQ(log.elided, 1u);
}

TEST_F(RetryPolicyLoop, GlibcDoesNotSkipWhenTriesRunOut) {
    give({{conflict, 3}});
    M::run([] {
        Lock lock(*find_policy("glibc"));
        for (int i = 0; i < 2; ++i) {
            lock.lock();
            lock.unlock();
        }
    });
    EXPECT_EQ(M::script().log.attempts, 4u);
    EXPECT_EQ(M::script().log.elided, 1u);
}

TEST_F(RetryPolicyLoop, KernelAdaptRetriesThriceThenSkips) {
    EXPECT_EQ(attempts("kernel-adapt", {{conflict, 9}}), 4u);
    EXPECT_EQ(attempts("kernel-adapt", {{busy, 9}}), 4u);
    EXPECT_EQ(attempts("kernel-adapt", {{conflict, 2}, {busy, 9}}), 4u);
    EXPECT_EQ(attempts("kernel-adapt", {{Status::capacity(), 9}}), 1u);
    EXPECT_EQ(attempts("kernel-adapt", {{silent_conflict, 9}}), 1u);
    M::reset();
    give({{conflict, 4}});
    M::run([] {
        Lock lock(*find_policy("kernel-adapt"));
        for (int i = 0; i < 5; ++i) {
            lock.lock();
            lock.unlock();
        }
    });
    EXPECT_EQ(M::script().log.attempts, 5u);
    EXPECT_EQ(M::script().log.fallbacks, 4u) << "the exhausted one and three skips";
}

TEST_F(RetryPolicyLoop, KernelAdaptGivesUpAfterFiveHundredPauses) {
    M::run([] {
        Lock lock(*find_policy("kernel-adapt"));
        lock.underlying().lock();
        M::script().on_futex_wait = [&] { lock.underlying().unlock(); };
        lock.lock();
        lock.unlock();
    });
    EXPECT_EQ(M::script().log.attempts, 1u);
    EXPECT_EQ(M::script().pauses, 500u);
    EXPECT_EQ(M::script().log.fallbacks, 1u);
}

TEST_F(RetryPolicyLoop, CkMakesFiveAttemptsWhateverTheCause) {
    EXPECT_EQ(attempts("ck", {{conflict, 9}}), 5u);
    EXPECT_EQ(attempts("ck", {{Status::capacity(), 9}}), 5u);
    EXPECT_EQ(attempts("ck", {{busy, 9}}), 5u);
}

TEST_F(RetryPolicyLoop, TbbWaitsBeforeItBeginsAndHeedsTheHint) {
    EXPECT_EQ(attempts("tbb", {{conflict, 20}}), 10u);
    EXPECT_EQ(attempts("tbb", {{silent_conflict, 20}}), 1u);
    M::reset();
    M::run([] {
        Lock lock(*find_policy("tbb"));
        lock.underlying().lock();
        M::script().on_pause = [&] {
            if (M::script().pauses == 9) lock.underlying().unlock();
        };
        lock.lock();
        lock.unlock();
    });
    EXPECT_EQ(M::script().log.attempts, 1u);
    EXPECT_TRUE(elided());
}

TEST_F(RetryPolicyLoop, DpdkMakesTwentyAttemptsAndBacksOff) {
    EXPECT_EQ(attempts("dpdk", {{Status::unspecified(), 9}}), 1u);
    EXPECT_EQ(attempts("dpdk", {{retry, 30}}), 20u);
    EXPECT_EQ(M::script().pauses, 0u);
    EXPECT_EQ(attempts("dpdk", {{silent_conflict, 3}}), 4u);
    EXPECT_GE(M::script().pauses, 2u + 4u + 8u);
    EXPECT_LE(M::script().pauses, 7u * (2u + 4u + 8u));
}

TEST_F(RetryPolicyLoop, TryLockFollowsThePolicysOwnRule) {
    struct Case {
        std::string_view policy;
        unsigned attempts;
        bool succeeds;  // after the loop, on a free lock
    };
    for (const Case& expected :
         {Case{"none", 0, true}, Case{"ovs2016", 6, true}, Case{"kleen-wait", 1, true},
          Case{"glibc", 1, true}, Case{"ck", 1, false}, Case{"tbb", 1, true},
          Case{"dpdk", 1, true}}) {
        M::reset();
        give({{Status::unspecified(), 30}});
        bool locked = false;
        M::run([&] {
            Lock lock(*find_policy(expected.policy));
            locked = lock.try_lock();
            if (locked) lock.unlock();
        });
        EXPECT_EQ(locked, expected.succeeds) << expected.policy;
        EXPECT_EQ(M::script().log.attempts, expected.attempts) << expected.policy;
        EXPECT_EQ(M::script().log.acquisitions, locked ? 1u : 0u);
    }
}

TEST_F(RetryPolicyLoop, TryLockOfABusyLockFailsWithoutWaiting) {
    for (const RetryPolicy& policy : retry_policies) {
        if (policy.try_lock.waits_until_free) continue;
        M::reset();
        bool locked = true;
        M::run([&] {
            Lock lock(policy);
            lock.underlying().lock();
            locked = lock.try_lock();
            lock.underlying().unlock();
        });
        EXPECT_FALSE(locked) << policy.name;
        EXPECT_EQ(M::script().log.acquisitions, 0u);
        const std::uint64_t attempted = M::script().log.attempts;
        if (policy.name == "ovs2016") {
            EXPECT_EQ(attempted, 6u);
        } else if (policy.name == "tbb") {
            EXPECT_EQ(attempted, 0u);
        }
    }
}

}  // namespace
}  // namespace abortscope::testing
