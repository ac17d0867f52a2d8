// SPDX-License-Identifier: Apache-2.0
//
// The native RTM instructions, executed: start, commit, abort with every status, nesting, misuse.
// On a CPU that has RTM these tests leave: there is nothing to emulate, and no script to follow.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "machines/native/native_machine.hpp"
#include "tests/machines/native/emulated_rtm_test.hpp"

namespace abortscope::native {
namespace {

using Rtm = EmulatedRtmTest;
using M = NativeMachine;

TEST_F(Rtm, ATransactionStartsIsSeenByXtestAndCommits) {
    const RtmEmulator emulator;
    EXPECT_FALSE(xtest());
    const rtm::Status status = xbegin();
    ASSERT_TRUE(status.is_started());
    const bool inside = xtest();
    xend();
    EXPECT_TRUE(inside);
    EXPECT_FALSE(xtest());
    EXPECT_EQ(emulator.begins(), 1u);
    EXPECT_EQ(emulator.commits(), 1u);
}

TEST_F(Rtm, AnAbortReturnsFromXbeginASecondTimeWithTheStatus) {
    const RtmEmulator emulator({abort_at_end(0x6)});
    int local = 1;
    const rtm::Status status = xbegin();
    if (status.is_started()) {
        local = 2;
        xend();
        ADD_FAILURE() << "the script aborts it";
    }
    EXPECT_EQ(status, rtm::Status::conflict());
    EXPECT_EQ(local, 1) << "what was on the stack is rolled back";
    EXPECT_EQ(emulator.commits(), 0u);
}

[[gnu::noinline]] rtm::Status begin_in_a_function() {
    return xbegin();
}

TEST_F(Rtm, AFunctionThatBeganATransactionAndReturnedIsBackAfterTheAbort) {
    const RtmEmulator emulator({abort_at_end(0x8)});
    const rtm::Status status = begin_in_a_function();
    if (status.is_started()) {
        // Another call reuses the stack of the one that began the transaction.
        char buffer[256];
        std::snprintf(buffer, sizeof(buffer), "%s", std::string(200, 'x').c_str());
        asm volatile("" ::"r"(buffer) : "memory");
        xend();
    }
    EXPECT_EQ(status, rtm::Status::capacity());
}

TEST_F(Rtm, EveryStatusBitComesThroughAlone) {
    for (unsigned bit = 0; bit < rtm::status_bit_count; ++bit) {
        const RtmEmulator emulator({abort_at_begin(1u << bit)});
        EXPECT_EQ(xbegin().word(), 1u << bit);
        EXPECT_EQ(emulator.aborts(), 1u);
    }
}

TEST_F(Rtm, FloatingPointRegistersAreRolledBackToo) {
    const RtmEmulator emulator({abort_at_end(0)});
    double before = 1.5;
    asm volatile("" : "+x"(before));
    const rtm::Status status = xbegin();
    if (status.is_started()) {
        asm volatile("xorps %%xmm0, %%xmm0\n xorps %%xmm1, %%xmm1\n xorps %%xmm15, %%xmm15" ::
                         : "xmm0", "xmm1", "xmm15");
        xend();
    }
    EXPECT_EQ(before, 1.5);
}

TEST_F(Rtm, XabortCarriesItsCodeAndOutsideATransactionDoesNothing) {
    const RtmEmulator emulator;
    xabort<0x42>();
    EXPECT_EQ(emulator.aborts(), 0u);
    const rtm::Status status = xbegin();
    if (status.is_started()) {
        xabort<0x42>();
        ADD_FAILURE() << "XABORT returned inside a transaction";
    }
    EXPECT_EQ(status, rtm::Status::explicit_abort(0x42));
    EXPECT_EQ(status.xabort_code(), 0x42);
}

TEST_F(Rtm, NestingIsFlatToSevenAndAnAbortLeavesAllOfIt) {
    const RtmEmulator emulator;
    const rtm::Status outer = xbegin();
    if (outer.is_started()) {
        for (unsigned depth = 2; depth <= max_rtm_nesting; ++depth) {
            if (!xbegin().is_started()) ADD_FAILURE() << depth;
        }
        if (emulator.depth() == max_rtm_nesting) xabort<0x01>();
        ADD_FAILURE() << "not seven deep";
    }
    EXPECT_EQ(outer, rtm::Status::explicit_abort(0x01).with_nested());
    EXPECT_EQ(emulator.depth(), 0u);
    EXPECT_FALSE(xtest());
}

TEST_F(Rtm, SevenLevelsCommitAndOnlyTheOutermostXendPublishes) {
    const RtmEmulator emulator;
    for (unsigned depth = 1; depth <= max_rtm_nesting; ++depth) {
        ASSERT_TRUE(xbegin().is_started());
    }
    for (unsigned depth = max_rtm_nesting; depth >= 1; --depth) {
        ASSERT_TRUE(xtest());
        xend();
    }
    EXPECT_FALSE(xtest());
    EXPECT_EQ(emulator.deepest(), max_rtm_nesting);
    EXPECT_EQ(emulator.commits(), 1u);
    EXPECT_EQ(emulator.begins(), 1u);
}

TEST_F(Rtm, TheEighthLevelAborts) {
    const RtmEmulator emulator;
    const rtm::Status outer = xbegin();
    if (outer.is_started()) {
        for (unsigned depth = 2; depth <= max_rtm_nesting + 1; ++depth) (void)xbegin();
        ADD_FAILURE() << "eight deep";
    }
    EXPECT_EQ(outer, rtm::Status::unspecified().with_nested());
    EXPECT_EQ(rtm::cause_of(outer), rtm::Cause::nested);
}

TEST_F(Rtm, XendOutsideATransactionIsAGeneralProtectionFault) {
    EXPECT_EXIT(
        {
            const RtmEmulator emulator;
            xend();
        },
        ::testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(Rtm, TheMachineIsTheInstructions) {
    const RtmEmulator emulator({commit(), abort_at_begin(0)});
    EXPECT_TRUE(M::rtm_available());
    EXPECT_FALSE(M::in_transaction());
    ASSERT_TRUE(M::begin().is_started());
    const bool inside = M::in_transaction();
    M::commit();
    EXPECT_TRUE(inside);
    EXPECT_EQ(M::begin(), rtm::Status::unspecified());
    M::abort<0xff>();
    EXPECT_EQ(emulator.aborts(), 1u);
}

TEST_F(Rtm, TheProbesTransactionsAreCountedOneByOne) {
    {
        const RtmEmulator emulator;
        RtmProbe probe;
        detail::try_transactions(probe);
        EXPECT_TRUE(probe.executes);
        EXPECT_EQ(probe.attempts, 1'000u);
        EXPECT_EQ(probe.commits, 1'000u);
        EXPECT_TRUE(probe.commits_work());
    }
    const RtmEmulator emulator({commit(), abort_at_begin(0), abort_at_end(0x8)});
    RtmProbe probe;
    detail::try_transactions(probe);
    EXPECT_EQ(probe.attempts, 1'000u);
    EXPECT_EQ(probe.commits, 1u);
    EXPECT_EQ(probe.last_status, 0x8u);
}

}  // namespace
}  // namespace abortscope::native
