// SPDX-License-Identifier: Apache-2.0
//
// The wake-up of a call_rcu worker in each historical form: the final protocol keeps its
// invariants, and each bug shows where its row says.
#include "primitives/wake_up_event.hpp"

#include <gtest/gtest.h>

#include <set>

#include "machines/random.hpp"
#include "tests/primitives/model_trial.hpp"
#include "tests/primitives/scripted_machine.hpp"

namespace abortscope::testing {
namespace {

constexpr std::uint64_t delay_ns = 10'000;

const WakeUpForm& form(std::string_view name) {
    return *find_wake_up_form(name);
}

TEST(WakeUpForms, AreFoundByNameAndEachNamesItsSource) {
    std::set<std::string_view> names;
    for (const WakeUpForm& row : wake_up_forms) {
        EXPECT_EQ(find_wake_up_form(row.name), &row);
        EXPECT_FALSE(row.summary.empty());
        EXPECT_FALSE(row.source.empty());
        names.insert(row.name);
    }
    EXPECT_EQ(names.size(), wake_up_forms.size());
    EXPECT_EQ(find_wake_up_form("bell"), nullptr);
}

// --- one worker's passes, with the sleep scripted ---

class WakeUpWord : public ::testing::Test {
  protected:
    using M = ScriptedMachine;
    void SetUp() override { M::reset(); }

    /// The word after `passes` passes that each find the queue as `has_work`; a sleep is ended by
    /// the scripted results, or by a ring.
    static std::int32_t word_after(std::string_view name, unsigned passes, bool has_work,
                                   std::deque<FutexResult> results = {}) {
        M::reset();
        M::script().futex_results = std::move(results);
        std::int32_t word = 0;
        M::run([&] {
            WakeUpEvent<M> event(form(name), delay_ns);
            M::script().on_futex_wait = [&] {
                if (M::script().futex_results.empty()) event.ring();
            };
            event.start();
            for (unsigned i = 0; i < passes; ++i) {
                event.begin_pass();
                event.end_pass([=] { return has_work; });
            }
            word = event.value();
        });
        return word;
    }
};

TEST_F(WakeUpWord, TheFinalProtocolKeepsItAtZeroOrMinusOne) {
    EXPECT_EQ(word_after("futex", 0, false), -1) << "armed from the start";
    EXPECT_EQ(word_after("futex", 5, true), -1) << "work on hand does not touch it";
    EXPECT_EQ(word_after("futex", 5, false), -1) << "armed again after each wait";
    EXPECT_EQ(word_after("futex", 5, false, {FutexResult::interrupted}), -1);
    EXPECT_EQ(word_after("futex", 5, false, {FutexResult::woken, FutexResult::woken}), -1)
        << "a spurious return is no wake-up";
}

TEST_F(WakeUpWord, VariantNeverArmedNeverSleeps) {
    EXPECT_EQ(word_after("futex-never-armed", 5, false), 0);
    EXPECT_EQ(M::script().futex_wakes, 0u);
}

TEST_F(WakeUpWord, VariantEachPassRunsBelowMinusOneWhileThereIsWork) {
    EXPECT_EQ(word_after("futex-each-pass", 1, false), 0) << "right while the queue is empty";
    EXPECT_EQ(word_after("futex-each-pass", 3, true), -3);
}

TEST_F(WakeUpWord, VariantEintrLeavesMinusTwo) {
    EXPECT_EQ(word_after("futex-eintr", 1, false, {FutexResult::interrupted}), -2);
    EXPECT_EQ(word_after("futex-spurious", 1, false, {FutexResult::interrupted}), -1)
        << "mended by then";
}

TEST_F(WakeUpWord, VariantSpuriousLeavesMinusTwo) {
    EXPECT_EQ(word_after("futex-spurious", 1, false, {FutexResult::woken}), -2);
}

TEST_F(WakeUpWord, RingCallsTheKernelOnlyForAWorkerThatMeansToSleep) {
    M::run([] {
        WakeUpEvent<M> event(form("futex"), delay_ns);
        EXPECT_FALSE(event.ring());
        event.start();
        EXPECT_TRUE(event.ring());
        EXPECT_FALSE(event.ring()) << "posted already";
        EXPECT_EQ(event.value(), 0);
    });
    EXPECT_EQ(M::script().futex_wakes, 1u);
}

// --- worker and producer, on the model ---

struct Session {
    std::uint64_t passes = 0, sleeps = 0, wake_ups = 0;
    std::uint64_t served = 0;
    std::int32_t word = 0;
};

/// The producer rings for a burst of items, then for lone items far apart. A pass that takes items
/// spends 5 us on them, as on a grace period; an item of the burst is rung for late, as if its
/// producer had been preempted between the two. `disturbed`: a futex_wake that nobody meant falls
/// into each pause.
Session run_session(std::string_view name, bool disturbed, std::uint64_t seed = 1) {
    constexpr unsigned burst = 200;
    constexpr unsigned lone = 20;
    constexpr std::uint64_t gap_ns = 200'000;
    ModelTrial trial(2, seed);
    auto event = make_owned<Model, WakeUpEvent<Model>>("event", form(name), delay_ns);
    auto items = make_owned<Model, Model::Atomic<std::uint64_t>>("items", 0u);
    auto stop = make_owned<Model, Model::Atomic<std::uint32_t>>("stop", 0u);
    auto taken_at = make_owned<Model, Model::Atomic<std::uint64_t>>("taken_at", 0u);
    Session session;
    trial.run([&](unsigned worker) {
        if (worker == 0) {
            std::uint64_t passes = 0, sleeps = 0, served = 0;
            event->start();
            for (;;) {
                event->begin_pass();
                ++passes;
                const std::uint64_t taken = items->exchange(0);
                if (taken > 0) {
                    served += taken;
                    taken_at->store(Model::now_ns());
                    Model::compute(17'000);
                }
                if (stop->load() != 0) {
                    if (items->load() == 0) break;
                    continue;
                }
                sleeps += event->end_pass([&] { return items->load() != 0 || stop->load() != 0; });
            }
            session.passes = passes;
            session.sleeps = sleeps;
            session.served = served;
            session.word = event->value();
            return;
        }
        std::uint64_t wake_ups = 0;
        Random random(seed);
        at_ns(100'000);
        for (unsigned i = 0; i < burst; ++i) {
            items->fetch_add(1);
            Model::compute(random.below(200'000));
            wake_ups += event->ring() ? 1 : 0;
            Model::compute(random.below(100'000));
        }
        for (unsigned i = 0; i < lone; ++i) {
            Model::sleep_for_ns(gap_ns);
            if (disturbed) event->wake_spuriously();
            Model::sleep_for_ns(gap_ns);
            const std::uint64_t start = Model::now_ns();
            items->fetch_add(1);
            wake_ups += event->ring() ? 1 : 0;
            while (taken_at->load() < start) Model::sleep_for_ns(500);
        }
        stop->store(1);
        event->ring();
        session.wake_ups = wake_ups;
    });
    EXPECT_EQ(session.served, burst + lone) << name;
    return session;
}

using WakeUpSession = OnTheModel;

TEST_F(WakeUpSession, EveryFormServesEveryItemAndStops) {
    for (const WakeUpForm& row : wake_up_forms) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) run_session(row.name, false, seed);
    }
}

TEST_F(WakeUpSession, TheFinalProtocolSleepsForEachLoneItemDisturbedOrNot) {
    const Session quiet = run_session("futex", false);
    EXPECT_GE(quiet.sleeps, 20u);
    EXPECT_GE(quiet.wake_ups, 20u);
    const Session disturbed = run_session("futex", true);
    EXPECT_EQ(disturbed.sleeps, quiet.sleeps + 20) << "it goes back to sleep each time";
    EXPECT_EQ(disturbed.passes, quiet.passes);
    EXPECT_EQ(disturbed.wake_ups, quiet.wake_ups);
}

TEST_F(WakeUpSession, TheThreadsFutexNeverSleepsAndIsNeverWoken) {
    const Session session = run_session("futex-never-armed", false);
    EXPECT_EQ(session.sleeps, 0u);
    EXPECT_EQ(session.wake_ups, 0u);
    const Session polling = run_session("polling", false);
    EXPECT_GT(session.passes * 10, polling.passes * 9) << "it polls as often as the real-time mode";
}

TEST_F(WakeUpSession, VariantEachPassStopsSleepingAfterAnItemThatWasRungForLate) {
    const Session session = run_session("futex-each-pass", false);
    EXPECT_LT(session.word, -1);
    EXPECT_LE(session.sleeps, 5u);
    EXPECT_LE(session.wake_ups, 5u);
}

TEST_F(WakeUpSession, VariantSpuriousStopsSleepingOnceItWasDisturbed) {
    const Session quiet = run_session("futex-spurious", false);
    const Session disturbed = run_session("futex-spurious", true);
    EXPECT_GE(quiet.word, -1);
    EXPECT_LT(disturbed.word, -1);
    EXPECT_LT(disturbed.sleeps + 15, quiet.sleeps) << "the lone items come to a poller";
    EXPECT_GT(disturbed.passes, 2 * quiet.passes);
}

struct Burst {
    std::uint64_t took_ns = 0;
    std::uint64_t wake_ups = 0;
};

/// 200 items and rings in a row, while the worker makes its passes.
Burst ring_in_a_row(std::string_view name) {
    ModelTrial trial(2);
    auto event = make_owned<Model, WakeUpEvent<Model>>("event", form(name), delay_ns);
    auto items = make_owned<Model, Model::Atomic<std::uint64_t>>("items", 0u);
    Burst burst;
    trial.run([&](unsigned worker) {
        if (worker == 0) {
            event->start();
            for (std::uint64_t served = 0; served < 200;) {
                event->begin_pass();
                served += items->exchange(0);
                if (served < 200) event->end_pass([&] { return items->load() != 0; });
            }
            return;
        }
        std::uint64_t wake_ups = 0;
        at_ns(100'000);
        const std::uint64_t start = Model::now_ns();
        for (unsigned i = 0; i < 200; ++i) {
            items->fetch_add(1);
            wake_ups += event->ring() ? 1 : 0;
            Model::compute(500);
        }
        burst = {Model::now_ns() - start, wake_ups};
    });
    return burst;
}

TEST_F(WakeUpSession, ProducersWaitOutTheDelayThatIsUnderTheMutex) {
    const std::uint64_t inside = ring_in_a_row("condvar-in-mutex").took_ns;
    for (std::string_view other : {"condvar", "futex", "futex-never-armed", "polling"}) {
        EXPECT_GT(inside, 2 * ring_in_a_row(other).took_ns) << other;
    }
}

TEST_F(WakeUpSession, ABusyProducerSeldomCallsTheKernel) {
    EXPECT_LE(ring_in_a_row("futex").wake_ups, 5u);
}

}  // namespace
}  // namespace abortscope::testing
