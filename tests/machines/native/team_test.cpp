// SPDX-License-Identifier: Apache-2.0
#include "machines/native/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "machines/native/affinity.hpp"
#include "machines/native/native_machine.hpp"

namespace abortscope::native {
namespace {

TEST(NativeTeam, EachWorkerRunsTheBodyOnceUnderItsOwnNumber) {
    Team team(4, {});
    std::vector<unsigned> runs(4, 0);
    for (unsigned phase = 1; phase <= 50; ++phase) {
        team.run(4, [&](unsigned worker) {
            EXPECT_EQ(NativeMachine::this_worker(), worker);
            ++runs[worker];
        });
        EXPECT_EQ(runs, std::vector<unsigned>(4, phase));
    }
}

TEST(NativeTeam, WorkersBeyondTheCountStayOutOfThePhase) {
    Team team(3, {});
    std::vector<unsigned> runs(3, 0);
    const auto body = [&](unsigned worker) { ++runs[worker]; };
    team.run(1, body);
    team.run(3, body);
    team.run(2, body);
    EXPECT_EQ(runs, (std::vector<unsigned>{3, 2, 1}));
}

TEST(NativeTeam, NoBodyBeginsBeforeEveryWorkerIsReady) {
    // Workers far in excess of the CPUs, so that some sleep at the gate.
    constexpr unsigned workers = 24;
    struct CountReady : WorkerHooks {
        std::atomic<unsigned> ready{0};
        void before(unsigned) noexcept override { ready.fetch_add(1); }
        void after(unsigned) noexcept override {}
    } hooks;
    Team team(workers, {});
    for (unsigned phase = 1; phase <= 20; ++phase) {
        std::atomic<unsigned> early{0};
        team.run(
            workers,
            [&](unsigned) {
                if (hooks.ready.load() != phase * workers) early.fetch_add(1);
            },
            &hooks);
        EXPECT_EQ(early.load(), 0u);
    }
}

TEST(NativeTeam, HooksRunOnTheWorkersOwnThreadAroundTheBody) {
    struct Trace : WorkerHooks {
        std::vector<std::string> calls{2};
        std::vector<std::thread::id> threads{4};
        void before(unsigned worker) noexcept override {
            calls[worker] += "before ";
            threads[worker] = std::this_thread::get_id();
        }
        void after(unsigned worker) noexcept override {
            calls[worker] += "after";
            threads[worker + 2] = std::this_thread::get_id();
        }
    } trace;
    Team team(2, {});
    team.run(
        2, [&](unsigned worker) { trace.calls[worker] += "body "; }, &trace);
    EXPECT_EQ(trace.calls[0], "before body after");
    EXPECT_EQ(trace.calls[1], "before body after");
    EXPECT_EQ(trace.threads[0], trace.threads[2]);
    EXPECT_EQ(trace.threads[1], trace.threads[3]);
    EXPECT_NE(trace.threads[0], trace.threads[1]);
}

TEST(NativeTeam, TheDurationSpansTheSlowestWorker) {
    Team team(2, {});
    const std::uint64_t duration_ns = team.run(2, [](unsigned worker) {
        if (worker == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    EXPECT_GE(duration_ns, 5'000'000u);
}

TEST(NativeTeam, TheFirstWorkersExceptionIsRethrownAndTheTeamGoesOn) {
    Team team(3, {});
    try {
        team.run(3, [](unsigned worker) {
            if (worker > 0) throw std::runtime_error("worker " + std::to_string(worker));
        });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "worker 1");
    }
    std::atomic<unsigned> ran{0};
    team.run(3, [&](unsigned) { ran.fetch_add(1); });
    EXPECT_EQ(ran.load(), 3u);
}

TEST(NativeTeam, EachWorkerWritesTheLogThatTheTeamShows) {
    Team team(3, {});
    team.run(3, [](unsigned worker) {
        for (unsigned i = 0; i <= worker; ++i) NativeMachine::log().record_fallback();
    });
    ASSERT_EQ(team.logs().size(), 3u);
    for (unsigned worker = 0; worker < 3; ++worker) {
        EXPECT_EQ(team.logs()[worker].fallbacks, worker + 1);
    }
    EXPECT_EQ(NativeMachine::log().fallbacks, 0u) << "the caller's own log is another one";
}

TEST(NativeTeam, WorkersArePinnedRoundRobinToTheGivenCpus) {
    const std::vector<unsigned> cpus = allowed_cpus();
    Team team(static_cast<unsigned>(cpus.size()) + 1, cpus);
    team.run(static_cast<unsigned>(cpus.size()) + 1, [&](unsigned worker) {
        EXPECT_EQ(allowed_cpus(), std::vector<unsigned>{cpus[worker % cpus.size()]});
    });
}

TEST(NativeTeam, ACpuThatDoesNotExistIsAnErrorNotAHang) {
    const std::vector<unsigned> cpus{allowed_cpus().front(), 1'000'000'000};
    EXPECT_THROW(Team(2, cpus), std::system_error);
}

TEST(NativeTeam, ATeamOrAPhaseOfNoneIsRefused) {
    EXPECT_THROW(Team(0, {}), std::invalid_argument);
    Team team(2, {});
    const auto body = [](unsigned) {};
    EXPECT_THROW(team.run(0, body), std::invalid_argument);
    EXPECT_THROW(team.run(3, body), std::invalid_argument);
}

TEST(NativeTeam, ATeamThatNeverRanEnds) {
    Team team(2, {});
}

}  // namespace
}  // namespace abortscope::native
