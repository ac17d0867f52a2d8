// SPDX-License-Identifier: Apache-2.0
//
// `abortscope stat -- COMMAND` as a shell user expects it: the command's own streams and status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(StatCommand, PassesTheCommandsOutputAndStatusOn) {
    const Outcome ran = abortscope("stat -- echo hello");
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "hello\n");
    EXPECT_THAT(ran.err, HasSubstr("task_clock_ns"));
    EXPECT_EQ(abortscope("stat -- false").code, 1);
    EXPECT_EQ(abortscope("stat -- sh -c 'exit 42'").code, 42);
}

TEST(StatCommand, HasTheShellsStatusesForWhatCannotRun) {
    const Outcome missing = abortscope("stat -- missing-command");
    EXPECT_EQ(missing.code, 127);
    EXPECT_EQ(missing.err, "abortscope: cannot run 'missing-command': No such file or directory\n");
    EXPECT_EQ(abortscope("stat -- /").code, 126);
    EXPECT_EQ(abortscope("stat --csv - -- missing-command").out, "") << "no header without rows";
}

TEST(StatCommand, ItsOwnFailuresAre125) {
    EXPECT_EQ(abortscope("stat").code, 125);
    EXPECT_EQ(abortscope("stat --").code, 125);
    EXPECT_EQ(abortscope("stat --frequency 3 -- true").code, 125);
    EXPECT_EQ(abortscope("stat --repeat 0 -- true").code, 125);
    EXPECT_EQ(abortscope("stat --csv - --json - -- true").code, 125);
    EXPECT_EQ(abortscope("stat -o /nonexistent/file -- true").code, 125);
    EXPECT_THAT(abortscope("stat --counters tx_strat -- true").err,
                HasSubstr("did you mean 'tx_start'"));
}

TEST(StatCommand, ASignalIs128AndItsNumberAndIsNamed) {
    const Outcome ran = abortscope("stat -- sh -c 'kill -KILL $$'");
    EXPECT_EQ(ran.code, 137);
    EXPECT_THAT(ran.err, HasSubstr("ended by signal 9"));
}

TEST(StatCommand, WorksWithoutTheTwoDashesAndLeavesTheCommandsOptionsAlone) {
    EXPECT_EQ(abortscope("stat printf '%s-' --csv -r 3").out, "--csv--r-3-");
    EXPECT_EQ(abortscope("stat -- printf '%s-' -- -x").out, "----x-");
}

TEST(StatCommand, ReadsStandardInputLikeTheCommand) {
    EXPECT_EQ(shell("echo abc | $ABORTSCOPE stat -- tr a-c A-C").out, "ABC\n");
}

TEST(StatCommand, AThousandChildrenAreCounted) {
    const Outcome ran = abortscope(
        "stat --json - --counters page_faults -- sh -c 'i=0; while [ $i -lt 1000 ]; do (:); "
        "i=$((i+1)); done'");
    EXPECT_EQ(ran.code, 0);
    const auto json = nlohmann::json::parse(ran.out);
    const auto& faults = json["runs"][0]["counters"]["page_faults"]["value"];
    ASSERT_TRUE(faults.is_number());
    EXPECT_GT(faults.get<int>(), 1'000) << "each child takes at least one";
}

TEST(StatCommand, CsvHasARowForEachCounterOfEachRun) {
    const Outcome ran = abortscope("stat --csv - -r 2 --counters tx-start,page-faults -- true");
    const auto lines = lines_of(ran.out);
    ASSERT_EQ(lines.size(), 5u) << ran.out;
    EXPECT_EQ(lines[0], "run,kind,time_ns,counter,value,source,running_pct,absent_reason");
    EXPECT_THAT(lines[1], StartsWith("0,total,"));
    EXPECT_THAT(lines[1], HasSubstr(",tx_start,"));
    EXPECT_THAT(lines[2], HasSubstr(",page_faults,"));
    EXPECT_THAT(lines[3], StartsWith("1,total,"));
    EXPECT_THAT(ran.out, Not(HasSubstr("tx_abort")));
}

TEST(StatCommand, AnExportToAFileLeavesStandardOutputToTheCommand) {
    const TemporaryFolder folder;
    const std::string path = folder.file("out.json");
    const Outcome ran = abortscope("stat --json " + path + " -- echo mine");
    EXPECT_EQ(ran.out, "mine\n");
    const auto json = nlohmann::json::parse(contents_of(path));
    EXPECT_EQ(json["program"], (std::vector<std::string>{"echo", "mine"}));
    EXPECT_EQ(json["runs"][0]["status"], 0);
    EXPECT_EQ(json["schema_version"], 1);
    EXPECT_EQ(json["command"], "abortscope stat --json " + path + " -- echo mine");
    EXPECT_TRUE(json["build"].contains("version"));
    EXPECT_TRUE(json["host"].contains("cpus"));
}

TEST(StatCommand, AnArgumentThatIsNoUtf8SpoilsNoExport) {
    const TemporaryFolder folder;
    const Outcome ran = abortscope("stat --json " + folder.file("x.json") + " --html " +
                                   folder.file("x.html") + " -- echo \"$(printf '\\377')\"");
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(nlohmann::json::parse(contents_of(folder.file("x.json")))["program"][1], "\uFFFD");
    EXPECT_THAT(contents_of(folder.file("x.html")), HasSubstr("<title>echo "));
}

TEST(StatCommand, WritesSeveralExportsAtOnceBesideTheTable) {
    const TemporaryFolder folder;
    const Outcome ran =
        abortscope("stat --counters page_faults --csv " + folder.file("x.csv") + " --json " +
                   folder.file("x.json") + " --markdown " + folder.file("x.md") + " --html " +
                   folder.file("x.html") + " -- echo mine");
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "mine\n");
    EXPECT_THAT(ran.err, HasSubstr("page_faults"));
    EXPECT_THAT(contents_of(folder.file("x.csv")), StartsWith("run,kind,"));
    EXPECT_TRUE(nlohmann::json::parse(contents_of(folder.file("x.json")))["mean"].is_object());
    EXPECT_THAT(contents_of(folder.file("x.md")), HasSubstr("| page_faults |"));
    EXPECT_THAT(contents_of(folder.file("x.html")), HasSubstr("<title>echo mine"));
    EXPECT_EQ(abortscope("stat --csv - --counters page_faults -- true").err, "");
    EXPECT_EQ(abortscope("stat --html /no/such/x.html -- true").code, 125);
    EXPECT_EQ(abortscope("stat --csv -- true").code, 125) << "it needs a file";
}

TEST(StatCommand, AbsentIsNullWithAReasonInJson) {
    const auto json = nlohmann::json::parse(abortscope("stat --json - -- true").out);
    for (const auto& [name, counter] : json["mean"]["counters"].items()) {
        EXPECT_EQ(counter["value"].is_null(), counter["source"] == "absent") << name;
        EXPECT_EQ(counter["value"].is_null(), counter["absent_reason"] != "") << name;
    }
}

TEST(StatCommand, IntervalsComeAsTheCommandRuns) {
    const Outcome ran = abortscope("stat -I 10 --csv - --counters page_faults -- sleep 0.05");
    EXPECT_THAT(ran.out, HasSubstr("0,interval,"));
    EXPECT_THAT(ran.out, HasSubstr("0,total,"));
}

TEST(StatCommand, TerminateGoesToTheCommandAndTheCountsAreStillPrinted) {
    const TemporaryFolder folder;
    const std::string runs = folder.file("runs");
    RunningProgram program({"stat", "--", "sh", "-c", "touch " + runs + "; exec sleep 60"});
    while (program.is_running() && ::access(runs.c_str(), F_OK) != 0) ::usleep(1'000);
    program.signal(SIGTERM);
    const Outcome ended = program.wait();
    EXPECT_EQ(ended.code, 128 + SIGTERM);
    EXPECT_THAT(ended.err, HasSubstr("ended by signal 15"));
}

}  // namespace
}  // namespace abortscope
