// SPDX-License-Identifier: Apache-2.0
#include "scenarios/tlb_shootdown.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "machines/native/native_machine.hpp"
#include "machines/native/team.hpp"

namespace abortscope {
namespace {

using M = native::NativeMachine;

TEST(TlbShootdown, WaitsForNobodyWhoIsOffline) {
    TlbShootdown<M> tlb(4, 0);
    tlb.go_online();
    tlb.ask_others();
    SUCCEED() << "returned";
}

// What a worker has published before it answers, or before it goes offline, the asker sees.
TEST(TlbShootdown, EveryAnswerComesAfterWhatTheWorkerDidBefore) {
    TlbShootdown<M> tlb(3, 0);
    std::atomic<bool> asked{false};
    std::atomic<unsigned> online{0};
    int done_by_polling = 0;
    int done_before_offline = 0;
    int seen = 0;
    native::Team team(3, {});
    team.run(3, [&](unsigned worker) {
        if (worker == 0) {
            while (online.load() != 2) M::pause();
            tlb.ask_others();
            seen = done_by_polling + done_before_offline;
            asked.store(true);
        } else if (worker == 1) {
            tlb.go_online();
            done_by_polling = 1;
            ++online;
            while (!asked.load()) tlb.poll();
            tlb.go_offline();
        } else {
            tlb.go_online();
            ++online;
            done_before_offline = 1;
            tlb.go_offline();
        }
    });
    EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace abortscope
