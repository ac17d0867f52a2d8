// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/rtm_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using tests::host;
using tests::verdict;

TEST(RtmVerdict, WorksWhereTheProbeCommitted) {
    for (const char* name : {"skylake-sp-force-abort", "sapphire-rapids", "granite-rapids"}) {
        const RtmVerdict rtm = verdict(host(name));
        EXPECT_EQ(rtm.state, RtmState::works) << name;
        EXPECT_EQ(rtm.reason, "");
    }
}

// Acceptance case A1.
TEST(RtmVerdict, AKernelsDefaultThatTurnedTsxOffIsNamedWithTheBootOption) {
    const RtmVerdict rtm = verdict(host("icelake-sp-tsx-default-off"));
    EXPECT_EQ(rtm.state, RtmState::turned_off_by_kernel);
    EXPECT_THAT(rtm.reason, HasSubstr("can, but the kernel turned RTM off"));
    EXPECT_THAT(rtm.reason, HasSubstr("built with tsx=off"));
    EXPECT_THAT(rtm.remedy, HasSubstr("boot with tsx=on"));
    EXPECT_THAT(rtm.remedy, HasSubstr("not affected by TSX Asynchronous Abort"));
}

TEST(RtmVerdict, OnACpuThatTaaAffectsTheRemedySaysWhatTsxOnMeans) {
    const RtmVerdict rtm = verdict(host("cascadelake-tsx-off"));
    EXPECT_EQ(rtm.state, RtmState::turned_off_by_kernel);
    EXPECT_THAT(rtm.reason, HasSubstr("its boot line says tsx=off"));
    EXPECT_THAT(rtm.remedy, HasSubstr("is affected by TSX Asynchronous Abort"));
    EXPECT_THAT(rtm.remedy, HasSubstr("tsx_async_abort=full"));
}

TEST(RtmVerdict, AdvertisedButNeverCommittingIsForcedOffAtRunTime) {
    const RtmVerdict rtm = verdict(host("rtm-never-commits"));
    EXPECT_EQ(rtm.state, RtmState::never_commits);
    EXPECT_THAT(rtm.reason, HasSubstr("1000 of 1000 empty transactions aborted"));
    EXPECT_THAT(rtm.reason, HasSubstr("status 0x0"));
}

// Acceptance case A2.
TEST(RtmVerdict, MicrocodeThatAbortsEverythingIsNamedAndNoCodeChangeHelps) {
    const RtmVerdict rtm = verdict(host("skylake-always-abort"));
    EXPECT_EQ(rtm.state, RtmState::always_aborts);
    EXPECT_THAT(rtm.reason, HasSubstr("RTM_ALWAYS_ABORT"));
    EXPECT_THAT(rtm.remedy, HasSubstr("no change to the program will help"));
}

// Acceptance case A8.
TEST(RtmVerdict, AnAdvertisedXbeginThatIsIllegalIsTheEmulatorsFault) {
    const RtmVerdict rtm = verdict(host("emulator-sigill"));
    EXPECT_EQ(rtm.state, RtmState::does_not_execute);
    EXPECT_THAT(rtm.reason, HasSubstr("illegal instruction"));
}

TEST(RtmVerdict, CpusThatNeverHadItAreToldSo) {
    EXPECT_EQ(verdict(host("amd-epyc")).state, RtmState::no_rtm);
    EXPECT_THAT(verdict(host("amd-epyc")).reason, HasSubstr("AMD EPYC 9755"));
    EXPECT_EQ(verdict(host("arm64")).state, RtmState::no_rtm);
    EXPECT_EQ(verdict(host("alder-lake-hybrid")).state, RtmState::no_rtm);
    EXPECT_THAT(verdict(host("alder-lake-hybrid")).remedy, HasSubstr("--machine model:"));
}

TEST(RtmVerdict, MicrocodeOf2014RemovedHaswells) {
    EXPECT_EQ(verdict(host("haswell-microcode-2014")).state, RtmState::removed_by_microcode);
}

TEST(RtmVerdict, AVirtualMachineThatHidesItIsBlamedBeforeTheGuestsKernel) {
    const RtmVerdict rtm = verdict(host("vm-hides-rtm"));
    EXPECT_EQ(rtm.state, RtmState::hidden_by_hypervisor);
    EXPECT_THAT(rtm.reason, HasSubstr("KVMKVMKVM"));
    EXPECT_THAT(rtm.remedy, HasSubstr("tsx=on"));
}

TEST(RtmVerdict, AModelThatTheTableLacksIsJudgedByCpuidAlone) {
    RecordedHost unknown = host("icelake-sp-tsx-default-off");
    unknown.description.cpu.known = nullptr;
    unknown.description.cpu.microarch = nullptr;
    EXPECT_EQ(verdict(unknown).state, RtmState::not_advertised);
}

TEST(RtmVerdict, EveryStateButWorkingHasAReasonAndARemedyOnOneLine) {
    for (const auto& entry : std::filesystem::directory_iterator(tests::host_root(""))) {
        if (!entry.is_directory()) continue;
        const RtmVerdict rtm = verdict(read_recorded_host(entry.path()));
        EXPECT_EQ(rtm.works(), rtm.reason.empty()) << entry.path();
        EXPECT_EQ(rtm.works(), rtm.remedy.empty()) << entry.path();
        EXPECT_EQ((rtm.reason + rtm.remedy).find('\n'), std::string::npos);
    }
}

}  // namespace
}  // namespace abortscope
