// SPDX-License-Identifier: Apache-2.0
#include "profiler/trial_queue.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"

namespace abortscope {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

std::vector<Trial> trials(const std::vector<std::string>& machines) {
    std::vector<Trial> trials;
    for (const std::string& machine : machines) {
        Trial trial;
        trial.spec.machine = machine;
        trial.spec.seed = trials.size();
        trials.push_back(trial);
    }
    return trials;
}

std::vector<Trial> model_trials(std::size_t count) {
    return trials(std::vector<std::string>(count, "model:haswell"));
}

TrialResult result_of(const Trial& trial) {
    TrialResult result;
    result.simulated_accesses = trial.spec.seed;
    return result;
}

std::vector<std::uint64_t> all_of(TrialQueue& queue) {
    std::vector<std::uint64_t> order;
    while (const auto result = queue.next()) order.push_back(result->simulated_accesses);
    return order;
}

TEST(TrialQueue, HandsOutResultsInOrderWhateverEndsFirst) {
    std::latch second_done(1);
    TrialQueue queue(model_trials(4), 2, [&](const Trial& trial) {
        if (trial.spec.seed == 0) second_done.wait();
        if (trial.spec.seed == 1) second_done.count_down();
        return result_of(trial);
    });
    EXPECT_THAT(all_of(queue), ElementsAre(0, 1, 2, 3));
}

TEST(TrialQueue, RunsEveryTrialOnceWithMoreJobsThanTrials) {
    std::atomic<int> runs{0};
    TrialQueue queue(model_trials(3), 64, [&](const Trial& trial) {
        ++runs;
        return result_of(trial);
    });
    EXPECT_THAT(all_of(queue), ElementsAre(0, 1, 2));
    EXPECT_EQ(runs, 3);
}

TEST(TrialQueue, OfNothingEndsAtOnce) {
    TrialQueue queue({}, 2, result_of);
    EXPECT_FALSE(queue.next().has_value());
}

TEST(TrialQueue, GivesANativeTrialTheComputerForItself) {
    std::atomic<int> running{0};
    std::atomic<bool> shared{false};
    std::atomic<int> most{0};
    const auto run = [&](const Trial& trial) {
        const int now = ++running;
        most = std::max(most.load(), now);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (is_native(trial.spec.machine) && (now != 1 || running != 1)) shared = true;
        --running;
        return result_of(trial);
    };
    TrialQueue queue(trials({"model:haswell", "model:haswell", "native", "native", "model:haswell",
                             "native", "model:haswell", "model:haswell"}),
                     4, run);
    EXPECT_THAT(all_of(queue), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_FALSE(shared);
    EXPECT_GE(most, 1);
}

TEST(TrialQueue, ReportsAFailureAfterTheResultsBeforeItAndNothingAfter) {
    TrialQueue queue(model_trials(5), 2, [](const Trial& trial) {
        if (trial.spec.seed == 2) throw CheckFailed("an element was lost");
        return result_of(trial);
    });
    EXPECT_EQ(queue.next()->simulated_accesses, 0u);
    EXPECT_EQ(queue.next()->simulated_accesses, 1u);
    EXPECT_THAT([&] { queue.next(); }, ThrowsMessage<CheckFailed>("an element was lost"));
}

TEST(TrialQueue, HandsOutWhatIsDoneWhenInterruptedAndStartsNothingMore) {
    std::latch others_done(2);
    auto release = std::make_shared<std::latch>(1);
    std::atomic<int> started{0};
    {
        TrialQueue queue(model_trials(100), 2, [&, release](const Trial& trial) {
            ++started;
            if (trial.spec.seed == 1) {
                others_done.wait();
                release->wait();
            }
            if (trial.spec.seed == 2 || trial.spec.seed == 3) others_done.count_down();
            if (trial.spec.seed == 3) release->wait();
            return result_of(trial);
        });
        EXPECT_EQ(queue.next()->simulated_accesses, 0u);
        others_done.wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        queue.interrupt();
        EXPECT_TRUE(queue.interrupted());
        EXPECT_EQ(queue.next()->simulated_accesses, 2u);
        EXPECT_FALSE(queue.next().has_value());
    }
    EXPECT_EQ(started, 4);
    release->count_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the left-behind threads end
}

TEST(TrialQueue, CallsIdleWhileItWaits) {
    std::latch idle_seen(1);
    TrialQueue queue(model_trials(1), 1, [&](const Trial& trial) {
        idle_seen.wait();
        return result_of(trial);
    });
    int calls = 0;
    const auto result = queue.next([&] {
        if (++calls == 1) idle_seen.count_down();
    });
    EXPECT_TRUE(result.has_value());
    EXPECT_GE(calls, 1);
}

}  // namespace
}  // namespace abortscope
