// SPDX-License-Identifier: Apache-2.0
#include "scenarios/message_queue.hpp"

#include <gtest/gtest.h>

#include <array>

#include "machines/native/native_machine.hpp"
#include "machines/native/team.hpp"
#include "primitives/futex_mutex.hpp"

namespace abortscope {
namespace {

using M = native::NativeMachine;
using Queue = MessageQueue<M, FutexMutex<M>>;

constexpr auto nothing = [] {};

TEST(MessageQueue, IsFirstInFirstOut) {
    Queue queue(make_owned<M, FutexMutex<M>>("lock"), 3);
    for (std::uint64_t round = 0; round < 5; ++round) {
        for (std::uint64_t i = 0; i < 3; ++i) queue.send(round * 1000 + i * 100, nothing, nothing);
        for (std::uint64_t i = 0; i < 3; ++i) {
            EXPECT_EQ(queue.receive(nothing), round * 1000 + i * 100);
        }
        EXPECT_TRUE(queue.empty());
    }
}

// A queue of one slot: senders and the receiver sleep and are woken at every message.
TEST(MessageQueue, LosesNeitherAMessageNorAWakeUp) {
    Queue queue(make_owned<M, FutexMutex<M>>("lock"), 1);
    constexpr std::uint64_t messages = 3000;
    std::array<std::uint64_t, 3> received{};
    unsigned out_of_order = 0;
    native::Team team(4, {});
    team.run(4, [&](unsigned worker) {
        if (worker < 3) {
            for (std::uint64_t i = 0; i < messages; ++i) {
                queue.send(std::uint64_t{worker} << 32 | i << 8, nothing, nothing);
            }
            return;
        }
        for (std::uint64_t i = 0; i < 3 * messages; ++i) {
            const std::uint64_t tag = queue.receive(nothing);
            std::uint64_t& next = received.at(tag >> 32);
            if ((tag & 0xffff'ffffu) != next << 8) ++out_of_order;
            ++next;
        }
    });
    EXPECT_EQ(out_of_order, 0u);
    for (const std::uint64_t count : received) EXPECT_EQ(count, messages);
}

TEST(MessageQueue, WakesOnlyWhoSleeps) {
    Queue queue(make_owned<M, FutexMutex<M>>("lock"), 100);
    unsigned wakes = 0;
    for (std::uint64_t i = 0; i < 50; ++i)
        queue.send(
            i << 8, [&] { ++wakes; }, nothing);
    EXPECT_EQ(wakes, 0u);
}

}  // namespace
}  // namespace abortscope
