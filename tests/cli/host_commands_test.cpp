// SPDX-License-Identifier: Apache-2.0
//
// doctor, events and decode as a shell sees them: exit code, standard output, standard error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string hosts = std::string(ABORTSCOPE_TESTS_DIR) + "/hosts/";

TEST(DoctorCommand, ExitsWithZeroWhereRtmCanBeMeasured) {
    const auto ran = abortscope("doctor --root " + hosts + "sapphire-rapids");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("RTM works here, and its counters count."));
    EXPECT_EQ(ran.err, "");
}

TEST(DoctorCommand, ExitsWithThreeWhereItCannot) {
    for (const char* name : {"icelake-sp-tsx-default-off", "docker-seccomp", "amd-epyc"}) {
        EXPECT_EQ(abortscope("doctor --root " + hosts + name).code, 3) << name;
    }
}

TEST(DoctorCommand, PrintsNothingButJsonIfAskedTo) {
    const auto ran = abortscope("doctor --json");
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(ran.code, json["can_measure_rtm"] == true ? 0 : 3);
}

TEST(DoctorCommand, AMissingRecordingIsOneLine) {
    const auto ran = abortscope("doctor --root /nonexistent");
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.err, "abortscope: /nonexistent is not a directory with a recorded host\n");
}

TEST(EventsCommand, ShowsTheTableOfAnyCpu) {
    const auto ran = abortscope("events --cpu skx");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, StartsWith("Skylake-SP (skx), not tried here\n"));
    EXPECT_THAT(ran.out, HasSubstr("RTM_RETIRED.ABORTED_TIMER"));
}

TEST(EventsCommand, AnUnknownCpuIsAUsageErrorWithTheNamesThatThereAre) {
    const auto ran = abortscope("events --cpu zen");
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("unknown CPU 'zen'"));
}

TEST(EventsCommand, ListsThisComputersCountersAsCsv) {
    const auto ran = abortscope("events --csv");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, StartsWith("counter,event,libpfm4,encoding,"));
    EXPECT_THAT(ran.out, HasSubstr("\npage_faults,"));
}

TEST(DecodeCommand, ExplainsEachWordAndAddsThemUp) {
    const auto ran = abortscope("decode 0x6 8");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("0x00000006  cause conflict"));
    EXPECT_THAT(ran.out, HasSubstr("0x00000008  cause capacity"));
    EXPECT_THAT(ran.out, HasSubstr("2 aborts."));
}

TEST(DecodeCommand, RefusesWhatIsNoStatusWord) {
    EXPECT_EQ(abortscope("decode six").code, 2);
    EXPECT_EQ(abortscope("decode 0x100000000").code, 2);
    EXPECT_THAT(abortscope("decode 0x100000000").err, HasSubstr("--perf-txn"));
}

TEST(DecodeCommand, PerfTransactionFlagsHaveSixtyFourBits) {
    const auto ran = abortscope("decode --perf-txn 0xff00000006");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("TX SYNC :ff"));
}

TEST(DecodeCommand, ReadsALogFromStandardInput) {
    const auto ran = shell(
        "printf 'abort 0x6 in worker 3\nabort 0x6\nnothing\nabort 0xff000001\n' | $ABORTSCOPE "
        "decode");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("3 aborts. By cause (these add up): conflict 2 lock_busy 1"));
}

TEST(DecodeCommand, ALogWithoutAStatusFails) {
    const auto ran = shell("echo nothing to see here | $ABORTSCOPE decode -");
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("no status word"));
}

}  // namespace
}  // namespace abortscope
