// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

using Word = Line<M::Atomic<std::uint32_t>>;
using Counter = Line<M::Cell<std::uint64_t>>;

TEST(ModelKernel, AFutexWaitOnAChangedWordReturnsAtOnce) {
    Bench bench(1);
    auto word = make_owned<M, Word>("word");
    FutexResult result = FutexResult::woken;
    bench.run([&](unsigned) { result = M::futex_wait(word->value, 7, forever_ns); });
    EXPECT_EQ(result, FutexResult::value_changed);
    EXPECT_EQ(bench.counts().futex_waits, 0u);
}

TEST(ModelKernel, AWakeReachesTheSleepersFirstComeFirst) {
    Bench bench(4);
    auto word = make_owned<M, Word>("word");
    std::vector<unsigned> order;
    std::uint32_t woken = 0;
    bench.run([&](unsigned worker) {
        if (worker == 0) {
            M::sleep_for_ns(1'000'000);
            for (int i = 0; i < 3; ++i) {
                woken += M::futex_wake(word->value, 1);
                M::sleep_for_ns(100'000);
            }
            return;
        }
        M::sleep_for_ns(100'000 * worker);
        EXPECT_EQ(M::futex_wait(word->value, 0), FutexResult::woken);
        order.push_back(worker);
    });
    EXPECT_EQ(woken, 3u);
    EXPECT_EQ(order, (std::vector<unsigned>{1, 2, 3}));
}

TEST(ModelKernel, AFutexWaitTimesOut) {
    Bench bench(1);
    auto word = make_owned<M, Word>("word");
    FutexResult result = FutexResult::woken;
    const std::uint64_t took =
        bench.run([&](unsigned) { result = M::futex_wait(word->value, 0, 5'000'000); });
    EXPECT_EQ(result, FutexResult::timed_out);
    EXPECT_GE(took, 5'000'000u);
    EXPECT_LT(took, 5'100'000u);
}

TEST(ModelKernel, AWokenWaitersTimeoutWakesNobodyLater) {
    Bench bench(2);
    auto word = make_owned<M, Word>("word");
    std::vector<FutexResult> results;
    bench.run([&](unsigned worker) {
        if (worker == 0) {
            M::sleep_for_ns(1'000'000);
            M::futex_wake(word->value, 1);
            return;
        }
        results.push_back(M::futex_wait(word->value, 0, 2'000'000));
        results.push_back(M::futex_wait(word->value, 0, 50'000'000));
    });
    EXPECT_EQ(results, (std::vector<FutexResult>{FutexResult::woken, FutexResult::timed_out}));
}

TEST(ModelKernel, SleepTakesItsTime) {
    Bench bench(1);
    const std::uint64_t took = bench.run([](unsigned) { M::sleep_for_ns(10'000'000); });
    EXPECT_GE(took, 10'000'000u);
    EXPECT_LT(took, 10'100'000u);
}

TEST(ModelKernel, ADeadlockIsReportedWithWhoWaitsWhereAndWhoWroteTheWord) {
    Bench bench(3);
    auto mutexes = make_owned_array<M, Word>("mutex", 2);
    try {
        bench.run([&](unsigned worker) {
            if (worker == 2) return;
            Word* first = mutexes.get() + worker;
            Word* second = mutexes.get() + (1 - worker);
            first->value.store(2);
            M::compute(100'000);
            M::futex_wait(second->value, 2);
        });
        FAIL() << "two workers that wait for each other must not end";
    } catch (const Deadlock& deadlock) {
        EXPECT_STREQ(
            deadlock.what(),
            "deadlock: every worker waits; worker 0 sleeps on mutex+64 (value 2, line last "
            "written by worker 1); worker 1 sleeps on mutex (value 2, line last written by "
            "worker 0)");
    }
}

TEST(ModelKernel, MoreWorkersThanCpusShareThemFairly) {
    EngineOptions two_cpus = options(6);
    two_cpus.cpus = 2;
    Bench bench(haswell(), two_cpus);
    std::vector<std::uint64_t> ended(6);
    constexpr std::uint64_t work_cycles = 340'000'000;  // 100 ms
    const std::uint64_t took = bench.run([&](unsigned worker) {
        M::compute(work_cycles);
        ended[worker] = M::now_ns();
    });
    // CPUs 0 and 1 are two cores, so the six share them without slowing each other.
    EXPECT_GT(took, 298'000'000u);
    EXPECT_LT(took, 320'000'000u);
    for (std::uint64_t end : ended) EXPECT_GT(end, 230'000'000u);  // nobody ran through
    EXPECT_GT(bench.counts().involuntary_switches, 10u);
}

TEST(ModelKernel, APreemptedOwnerKeepsTheLockWhileOthersSpin) {
    EngineOptions one_cpu = options(2);
    one_cpu.cpus = 1;
    Bench bench(haswell(), one_cpu);
    auto lock = make_owned<M, Word>("lock");
    auto counter = make_owned<M, Counter>("counter");
    bench.run([&](unsigned) {
        for (int i = 0; i < 40; ++i) {
            while (lock->value.exchange(1) != 0) {
                M::spin_until(lock->value, [](std::uint32_t word) { return word == 0; });
            }
            const std::uint64_t old = counter->value;
            M::compute(3'400'000);  // 1 ms: a slice ends inside now and then
            counter->value = old + 1;
            lock->value.store(0, std::memory_order_release);
        }
    });
    EXPECT_EQ(std::uint64_t{counter->value}, 80u);
    EXPECT_GT(bench.counts().involuntary_switches, 0u);
}

TEST(ModelKernel, AContextSwitchAbortsTheTransactionWithStatusZero) {
    EngineOptions one_cpu = options(2);
    one_cpu.cpus = 1;
    Bench bench(haswell(), one_cpu);
    auto counter = make_owned<M, Counter>("counter");
    std::uint64_t other_statuses = 0;
    bench.run([&](unsigned) {
        for (int i = 0; i < 200; ++i) {
            for (;;) {
                const rtm::Status status = M::begin();
                if (status.is_started()) {
                    const std::uint64_t old = counter->value;
                    M::compute(680'000);
                    counter->value = old + 1;
                    M::commit();
                    break;
                }
                if (status.word() != 0) ++other_statuses;
            }
        }
    });
    EXPECT_EQ(std::uint64_t{counter->value}, 400u);
    EXPECT_EQ(other_statuses, 0u);  // on one CPU nobody conflicts: switches and ticks end them
    EXPECT_GT(bench.counts().abort_events, 0u);
}

TEST(ModelKernel, InterruptsComeAtThePresetsRate) {
    Bench bench(1);
    bench.run([](unsigned) { M::compute(std::uint64_t{10} * 3'400'000'000); });  // 10 s
    EXPECT_NEAR(static_cast<double>(bench.counts().interrupts), 2500.0, 150.0);
}

TEST(ModelKernel, SiblingThreadsOfOneCoreSlowEachOther) {
    Preset preset = quiet_haswell();
    preset.start_stagger_ns = 0;
    const auto work = [](unsigned) { M::compute(1'000'000); };
    Bench four(4, preset);
    const std::uint64_t apart = four.run(work);
    Bench eight(8, preset);
    const std::uint64_t together = eight.run(work);
    EXPECT_EQ(together * 100 / apart, 100u + preset.smt_slowdown_pct);
}

TEST(ModelKernel, YieldLetsAQueuedTaskRun) {
    EngineOptions one_cpu = options(2);
    one_cpu.cpus = 1;
    Bench bench(haswell(), one_cpu);
    auto word = make_owned<M, Word>("word");
    std::vector<unsigned> turns;
    bench.run([&](unsigned worker) {
        for (int i = 0; i < 3; ++i) {
            turns.push_back(worker);
            M::yield();
        }
    });
    EXPECT_EQ(turns, (std::vector<unsigned>{0, 1, 0, 1, 0, 1}));
}

TEST(ModelKernel, PinnedWorkersStayOnTheirCpu) {
    EngineOptions pinned = options(4);
    pinned.cpus = 2;
    pinned.pinned = true;
    Bench bench(haswell(), pinned);
    bench.run([](unsigned worker) {
        for (int i = 0; i < 20; ++i) {
            M::compute(worker < 2 ? 34'000 : 340'000);
            M::sleep_for_ns(100'000);
        }
    });
    EXPECT_EQ(bench.counts().migrations, 0u);
}

}  // namespace
}  // namespace abortscope::model
