// SPDX-License-Identifier: Apache-2.0
#include "machines/native/rtm_probe.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "machines/native/rtm_pretence.hpp"

namespace abortscope::native {
namespace {

/// Puts the process's own answers back.
struct EndPretence {
    EndPretence() = default;
    ~EndPretence() {
        pretend_rtm_cpuid(std::nullopt);
        pretend_rtm_commits(std::nullopt);
    }
    EndPretence(const EndPretence&) = delete;
    EndPretence& operator=(const EndPretence&) = delete;
};

// Acceptance case A8.
TEST(RtmProbe, NoRtmInstructionRunsUnlessCpuidAdvertisesRtm) {
    const RtmProbe probe = probe_rtm({.advertised = false, .always_abort = false});
    EXPECT_EQ(probe.attempts, 0u);
    EXPECT_FALSE(probe.executes);
    EXPECT_FALSE(probe.commits_work());
}

TEST(RtmProbe, AnIllegalXbeginIsNoticedAndTheProcessLives) {
    if (rtm_cpuid().advertised) GTEST_SKIP() << "this CPU has RTM: XBEGIN is not illegal";
    const RtmProbe probe = probe_rtm({.advertised = true, .always_abort = false});
    EXPECT_TRUE(probe.advertised);
    EXPECT_EQ(probe.attempts, 1u);
    EXPECT_FALSE(probe.executes);
    EXPECT_FALSE(probe.commits_work());
}

TEST(RtmProbe, TheProcesssOwnHandlerIsPutBack) {
    struct sigaction before {};
    before.sa_handler = [](int) {};
    sigemptyset(&before.sa_mask);
    struct sigaction original {};
    sigaction(SIGILL, &before, &original);
    (void)probe_rtm({.advertised = true, .always_abort = false});
    struct sigaction after {};
    sigaction(SIGILL, &original, &after);
    EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST(RtmProbe, IsMadeOnceAndAgreesWithWhatLocksAreTold) {
    EXPECT_EQ(&rtm_probe(), &rtm_probe());
    EXPECT_EQ(rtm_probe().commits_work(), rtm_commits());
    EXPECT_EQ(rtm_probe().advertised, rtm_cpuid().advertised);
}

TEST(RtmPretence, HoldsUntilItIsTakenBack) {
    const EndPretence end;
    pretend_rtm_cpuid(RtmCpuid{.advertised = true, .always_abort = true});
    EXPECT_TRUE(rtm_cpuid().advertised);
    EXPECT_TRUE(rtm_cpuid().always_abort);
    pretend_rtm_commits(true);
    EXPECT_TRUE(rtm_commits());
    pretend_rtm_commits(false);
    EXPECT_FALSE(rtm_commits());
    pretend_rtm_commits(std::nullopt);
    EXPECT_EQ(rtm_commits(), rtm_probe().commits_work());
}

}  // namespace
}  // namespace abortscope::native
