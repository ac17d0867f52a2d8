// SPDX-License-Identifier: Apache-2.0
//
// doctor, events and decode as a shell sees them: exit code, standard output, standard error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::run;

const std::string hosts = std::string(ABORTSCOPE_TESTS_DIR) + "/hosts/";

TEST(DoctorCommand, ExitsWithZeroWhereRtmCanBeMeasured) {
    const auto ran = run({"doctor", "--root", (hosts + "sapphire-rapids").c_str()});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("RTM works here, and its counters count."));
    EXPECT_EQ(ran.err, "");
}

TEST(DoctorCommand, ExitsWithThreeWhereItCannot) {
    for (const char* name : {"icelake-sp-tsx-default-off", "docker-seccomp", "amd-epyc"}) {
        EXPECT_EQ(run({"doctor", "--root", (hosts + name).c_str()}).status, 3) << name;
    }
}

TEST(DoctorCommand, PrintsNothingButJsonIfAskedTo) {
    const auto ran = run({"doctor", "--json"});
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(ran.status, json["can_measure_rtm"] == true ? 0 : 3);
}

TEST(DoctorCommand, AMissingRecordingIsOneLine) {
    const auto ran = run({"doctor", "--root", "/nonexistent"});
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.err, "abortscope: /nonexistent is not a directory with a recorded host\n");
}

TEST(EventsCommand, ShowsTheTableOfAnyCpu) {
    const auto ran = run({"events", "--cpu", "skx"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, StartsWith("Skylake-SP (skx), not tried here\n"));
    EXPECT_THAT(ran.out, HasSubstr("RTM_RETIRED.ABORTED_TIMER"));
}

TEST(EventsCommand, AnUnknownCpuIsAUsageErrorWithTheNamesThatThereAre) {
    const auto ran = run({"events", "--cpu", "zen"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("unknown CPU 'zen'"));
}

TEST(EventsCommand, ListsThisComputersCountersAsCsv) {
    const auto ran = run({"events", "--csv"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, StartsWith("counter,event,libpfm4,encoding,"));
    EXPECT_THAT(ran.out, HasSubstr("\npage_faults,"));
}

TEST(DecodeCommand, ExplainsEachWordAndAddsThemUp) {
    const auto ran = run({"decode", "0x6", "8"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("0x00000006  cause conflict"));
    EXPECT_THAT(ran.out, HasSubstr("0x00000008  cause capacity"));
    EXPECT_THAT(ran.out, HasSubstr("2 aborts."));
}

TEST(DecodeCommand, RefusesWhatIsNoStatusWord) {
    EXPECT_EQ(run({"decode", "six"}).status, 2);
    EXPECT_EQ(run({"decode", "0x100000000"}).status, 2);
    EXPECT_THAT(run({"decode", "0x100000000"}).err, HasSubstr("--perf-txn"));
}

TEST(DecodeCommand, PerfTransactionFlagsHaveSixtyFourBits) {
    const auto ran = run({"decode", "--perf-txn", "0xff00000006"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("TX SYNC :ff"));
}

/// Standard input from a string, for as long as it lives.
class Input {
  public:
    explicit Input(const std::string& text) : text_(text), before_(std::cin.rdbuf(text_.rdbuf())) {
        std::cin.clear();
    }
    ~Input() { std::cin.rdbuf(before_); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

  private:
    std::istringstream text_;
    std::streambuf* before_;
};

TEST(DecodeCommand, ReadsALogFromStandardInput) {
    const Input log("abort 0x6 in worker 3\nabort 0x6\nnothing\nabort 0xff000001\n");
    const auto ran = run({"decode"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("3 aborts. By cause (these add up): conflict 2 lock_busy 1"));
}

TEST(DecodeCommand, ALogWithoutAStatusFails) {
    const Input log("nothing to see here\n");
    const auto ran = run({"decode", "-"});
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("no status word"));
}

}  // namespace
}  // namespace abortscope
