// SPDX-License-Identifier: Apache-2.0
#include "machines/native/native_machine.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <thread>

namespace abortscope::native {
namespace {

using M = NativeMachine;

TEST(NativeMachine, TimeNeverGoesBackAndSleepLastsAtLeastAsLongAsAsked) {
    const std::uint64_t before = M::now_ns();
    M::sleep_for_ns(2'000'000);
    EXPECT_GE(M::now_ns() - before, 2'000'000u);
}

TEST(NativeMachine, SpinUntilReturnsTheValueThatItWaitedForOrGivesUp) {
    std::atomic<int> word{3};
    EXPECT_EQ(M::spin_until(word, [](int value) { return value == 3; }), 3);
    unsigned asked = 0;
    EXPECT_EQ(M::spin_until(
                  word,
                  [&](int) {
                      ++asked;
                      return false;
                  },
                  4),
              3);
    EXPECT_EQ(asked, 5u) << "once before each of four pauses, and once after";
}

TEST(NativeMachine, FutexWaitTellsWhyItReturned) {
    M::Atomic<std::uint32_t> word{1};
    EXPECT_EQ(M::futex_wait(word, 0), FutexResult::value_changed);
    EXPECT_EQ(M::futex_wait(word, 1, 1'000'000), FutexResult::timed_out);
    EXPECT_EQ(M::futex_wake(word, 1), 0u) << "nobody sleeps";
}

TEST(NativeMachine, FutexWakeWakesAsManyAsAskedAndSaysHowMany) {
    M::Atomic<std::uint32_t> word{0};
    std::atomic<unsigned> awake{0};
    const auto sleeper = [&] {
        while (word.load() == 0) (void)M::futex_wait(word, 0);
        awake.fetch_add(1);
    };
    std::thread first(sleeper);
    std::thread second(sleeper);
    // Both may still be on their way into the kernel.
    std::uint32_t woken = 0;
    while (woken == 0) woken = M::futex_wake(word, 1);
    EXPECT_EQ(woken, 1u);
    word.store(1);
    (void)M::futex_wake(word, 2);
    first.join();
    second.join();
    EXPECT_EQ(awake.load(), 2u);
}

TEST(NativeMachine, ASignalInterruptsAFutexWait) {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    struct sigaction before {};
    sigaction(SIGUSR1, &action, &before);
    M::Atomic<std::uint32_t> word{0};
    std::atomic<bool> done{false};
    std::atomic<FutexResult> result{FutexResult::woken};
    std::thread sleeper([&] {
        result = M::futex_wait(word, 0);
        done = true;
    });
    while (!done) {
        pthread_kill(sleeper.native_handle(), SIGUSR1);
        M::sleep_for_ns(100'000);
    }
    sleeper.join();
    EXPECT_EQ(result.load(), FutexResult::interrupted);
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(NativeMachine, MemoryIsAlignedAndUsable) {
    for (const std::size_t alignment : {8u, 64u, 128u, 4096u}) {
        void* place = M::allocate(3 * alignment, alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % alignment, 0u);
        *static_cast<char*>(place) = 1;
        M::describe(place, alignment, "test");
        M::deallocate(place, 3 * alignment, alignment);
    }
}

TEST(NativeMachine, SystemCallsReturn) {
    for (const SystemCall kind : {SystemCall::null, SystemCall::map, SystemCall::io}) {
        M::system_call(kind);
    }
    M::yield();
    M::pause();
    M::prefetch(nullptr);
    M::compute(1'000'000);
    M::fence(std::memory_order_seq_cst);
}

TEST(NativeMachine, CyclesGrowWithTheTimeTheyFill) {
    EXPECT_EQ(M::cycles_of_ns(0), 0u);
    EXPECT_GT(M::cycles_of_ns(1'000'000), 0u);
    EXPECT_GE(M::cycles_of_ns(2'000'000), 2 * M::cycles_of_ns(1'000'000));
}

TEST(NativeMachine, AThreadOfTheUsersOwnIsWorkerZeroWithALogOfItsOwn) {
    EXPECT_EQ(M::this_worker(), 0u);
    AbortLog* mine = &M::log();
    AbortLog* other = nullptr;
    std::thread([&] { other = &M::log(); }).join();
    EXPECT_NE(mine, other);
}

TEST(NativeMachine, OutsideATransactionThereIsNone) {
    EXPECT_FALSE(M::in_transaction());
}

}  // namespace
}  // namespace abortscope::native
