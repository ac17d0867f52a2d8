// SPDX-License-Identifier: Apache-2.0
//
// The elided mutex as a program uses it; the first test is the header's example.
#include "machines/native/elided_mutex.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/primitives/model_trial.hpp"

namespace abortscope::testing {
namespace {

TEST(ElidedMutex, CountsWhatAThreadDidUnderAStandardGuard) {
    abortscope::elided_mutex mutex;
    std::uint64_t counter = 0;
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> acquisitions{0}, elided{0}, fallbacks{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10'000; ++i) {
                std::lock_guard guard(mutex);
                ++counter;
            }
            const AbortLog& log = abortscope::elided_mutex::this_thread_log();
            acquisitions += log.acquisitions;
            elided += log.elided;
            fallbacks += log.fallbacks;
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counter, 40'000u);
    EXPECT_EQ(acquisitions.load(), 40'000u);
    EXPECT_EQ(elided.load() + fallbacks.load(), 40'000u);
    EXPECT_EQ(mutex.elision_active(), native::NativeMachine::rtm_available());
    if (!mutex.elision_active()) {
        EXPECT_EQ(elided.load(), 0u);
    }
}

TEST(ElidedMutex, WorksWithTheStandardsLocksAndConditionVariable) {
    abortscope::elided_mutex mutex, other;
    std::condition_variable_any arrived;
    bool ready = false;
    std::thread waiter([&] {
        std::unique_lock lock(mutex);
        arrived.wait(lock, [&] { return ready; });
        EXPECT_TRUE(lock.owns_lock());
    });
    {
        std::scoped_lock both(mutex, other);
        ready = true;
    }
    arrived.notify_all();
    waiter.join();
    std::unique_lock attempt(mutex, std::try_to_lock);
    EXPECT_TRUE(attempt.owns_lock());
}

TEST(ElidedMutex, TakesAPolicyOfTheProgramsOwn) {
    static constexpr RetryPolicy once{
        .name = "once", .summary = "one attempt", .source = "this test", .max_attempts = 1};
    abortscope::elided_mutex mutex(once);
    EXPECT_EQ(mutex.policy().name, "once");
    std::lock_guard guard(mutex);
}

using ElidedMutexOnTheModel = OnTheModel;

TEST_F(ElidedMutexOnTheModel, ElidesUnderAStandardGuard) {
    constexpr unsigned workers = 4;
    ModelTrial trial(workers);
    auto mutex = make_owned<Model, BasicElidedMutex<Model>>("mutex");
    auto counter = make_owned<Model, Model::Cell<std::uint64_t>>("counter", 0u);
    trial.run([&](unsigned) {
        for (int i = 0; i < 200; ++i) {
            std::lock_guard guard(*mutex);
            *counter += 1u;
        }
    });
    EXPECT_TRUE(mutex->elision_active());
    EXPECT_EQ(static_cast<std::uint64_t>(*counter), 800u);
    std::uint64_t elided = 0;
    for (unsigned worker = 0; worker < workers; ++worker) elided += trial.log(worker).elided;
    EXPECT_GT(elided, 0u);
}

}  // namespace
}  // namespace abortscope::testing
