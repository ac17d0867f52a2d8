// SPDX-License-Identifier: Apache-2.0
//
// locktest, ebizzy, hackbench, dbench and urcu-rbtree: what each must show of the locks under it.
// That they keep their checks on every lock and policy is every_scenario_test.cpp's.
#include <gtest/gtest.h>

#include <algorithm>

#include "primitives/wake_up_event.hpp"
#include "profiler/errors.hpp"
#include "profiler/trial_runner.hpp"
#include "tests/scenarios/trial.hpp"

namespace abortscope {
namespace {

class Locktest : public OnTheModel {
  protected:
    static PhaseResult acquisitions(std::string_view lock, unsigned threads, Changes changes) {
        changes.try_emplace("duration_ms", 2);
        TrialSpec spec = spec_of("locktest", threads, changes);
        spec.lock = lock;
        return run_model(spec).phase("acquisitions");
    }
};

TEST_F(Locktest, RunsAsLongAsItIsTold) {
    const auto result = acquisitions("tas", 4, {{"duration_ms", 3}, {"call", 1}});
    EXPECT_GE(result.duration_ns, 3'000'000u);
    EXPECT_LT(result.duration_ns, 3'300'000u);
}

TEST_F(Locktest, ReadersShareALongSection) {
    for (const std::string_view lock : {"rwlock", "rwsem-read-first", "fat-rwlock"}) {
        const Changes changes{{"load_ns", 5000}, {"call", 1}};
        Changes writers = changes;
        writers["read_pct"] = 0;
        EXPECT_GT(acquisitions(lock, 4, changes).total(),
                  2 * acquisitions(lock, 4, writers).total())
            << lock;
    }
}

TEST_F(Locktest, ATicketLockServesAllAlike) {
    const auto result = acquisitions("ticket", 4, {{"load_ns", 300}, {"call", 1}});
    const auto [least, most] =
        std::minmax_element(result.operations.begin(), result.operations.end());
    EXPECT_LE(*most - *least, *most / 20);
}

TEST_F(Locktest, WithoutNodesAQueueSpinlockStillExcludes) {
    for (const std::string_view lock : {"qspinlock-2013", "qspinlock-4.2"}) {
        EXPECT_GT(acquisitions(lock, 4, {{"max_nodes", 0}, {"call", 1}}).total(), 0u) << lock;
    }
}

class OverCommit : public OnTheModel {};

// 16 workers on 8 CPUs: a waiter that is preempted holds up all who queue behind it, and nobody who
// takes what is free.
TEST_F(OverCommit, CostsAQueueOfWaitersMoreThanATestAndSetLock) {
    TrialSpec spec = spec_of("dbench", 16, {{"duration_ms", 200}});
    // A convoy forms sooner or later, so that seeds differ by much.
    const auto bytes_per_s = [&](std::string_view lock) {
        spec.lock = lock;
        double sum = 0;
        for (spec.seed = 1; spec.seed <= 3; ++spec.seed) {
            const auto outcome = run_model(spec);
            const PhaseResult& result = outcome.phase("run");
            sum += static_cast<double>(result.total()) / static_cast<double>(result.duration_ns);
        }
        return sum;
    };
    EXPECT_LT(bytes_per_s("ticket"), 0.7 * bytes_per_s("tas"));
}

TEST_F(OverCommit, AnRcuWalkMeetsNobodyAtTheRootDirectory) {
    const auto bytes = [](std::int64_t path_walk) {
        const Changes changes{{"duration_ms", 2}, {"path_walk", path_walk}};
        const ModelSetting two_sockets{*model::find_preset("sandybridge-2s")};
        return run_model(spec_of("dbench", 16, changes), two_sockets).phase("run").total();
    };
    EXPECT_GT(bytes(1), bytes(0) * 2);
}

TEST(Hackbench, DeliversEveryMessageOnNativeThreads) {
    const auto outcome = run_native(spec_of("hackbench", 4, {{"messages", 300}, {"fan", 2}}));
    for (const std::uint64_t messages : outcome.phase("messages").operations) {
        EXPECT_EQ(messages, 2u * 300u);
    }
}

TEST(Hackbench, RefusesWorkersThatDoNotFillItsGroups) {
    const TrialSpec spec = spec_of("hackbench", 6, {{"fan", 2}});
    EXPECT_THROW(run_trial(*find_scenario("hackbench"), spec), UsageError);
}

class GuestsOfOneHost : public OnTheModel {};

TEST_F(GuestsOfOneHost, HaveLocksOfTheirOwn) {
    const auto records = [](std::int64_t guests) {
        const Changes changes{{"duration_ms", 20}, {"guests", guests}};
        return run_model(spec_of("ebizzy", 8, changes)).phase("records").total();
    };
    EXPECT_GT(records(4), records(1) * 11 / 10);
}

TEST_F(GuestsOfOneHost, SplitTheWorkersEvenly) {
    const Changes changes{{"guests", 3}, {"messages", 10}, {"fan", 2}};
    EXPECT_NO_THROW(run_model(spec_of("hackbench", 12, changes)));
    EXPECT_THROW(run_model(spec_of("hackbench", 16, changes)), UsageError);
}

class UrcuRbtree : public OnTheModel {
  protected:
    static double updates_per_ms(std::string_view form) {
        std::int64_t index = 0;
        while (wake_up_forms[static_cast<std::size_t>(index)].name != form) ++index;
        const auto outcome =
            run_model(spec_of("urcu-rbtree", 2, {{"form", index}, {"duration_ms", 60}}));
        const PhaseResult& result = outcome.phase("updates");
        return static_cast<double>(result.total()) * 1e6 / static_cast<double>(result.duration_ns);
    }
};

TEST_F(UrcuRbtree, IsSlowByTheSleepUnderTheMutexAndNotByTheCondvar) {
    const double futex = updates_per_ms("futex");
    EXPECT_LT(updates_per_ms("condvar-in-mutex") * 20, futex);
    EXPECT_GT(updates_per_ms("condvar"), futex / 2);
    EXPECT_GT(updates_per_ms("futex-never-armed"), futex * 0.9);
    EXPECT_LT(updates_per_ms("futex-never-armed"), futex * 1.1);
}

TEST_F(UrcuRbtree, CountsTheCallsOfCommittedSectionsAlone) {
    TrialSpec spec = spec_of("urcu-rbtree", 3, {{"duration_ms", 2}});
    spec.lock = "futex-mutex";
    spec.policy = "ovs2016";
    // The scenario's own check holds calls against callbacks.
    EXPECT_GT(run_model(spec).aborts(), 0u);
}

TEST(UrcuRbtreeOnNative, RunsEveryCallbackWithEveryForm) {
    for (std::size_t form = 0; form < wake_up_forms.size(); ++form) {
        TrialSpec spec = spec_of("urcu-rbtree", 4,
                                 {{"form", static_cast<std::int64_t>(form)},
                                  {"duration_ms", 10},
                                  {"batch_delay_us", 500},
                                  {"readers", 1},
                                  {"keys", 64}});
        EXPECT_NO_THROW(run_native(spec)) << wake_up_forms[form].name;
    }
}

TEST(UrcuRbtreeOnNative, WantsAWriter) {
    const TrialSpec spec = spec_of("urcu-rbtree", 2, {{"readers", 1}});
    EXPECT_THROW(run_trial(*find_scenario("urcu-rbtree"), spec), UsageError);
}

}  // namespace
}  // namespace abortscope
