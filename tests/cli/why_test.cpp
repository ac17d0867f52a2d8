// SPDX-License-Identifier: Apache-2.0
//
// `abortscope why` and `run --why` as their user meets them.
#include <gmock/gmock.h>

#include "reports/csv_table.hpp"
#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Why, NamesTheMapsCountBesideItsMaskAndWhatPaddingGains) {
    const Outcome outcome = abortscope("why ovs-hmap --n 2000 --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("policy ovs2016"), HasSubstr("hmap.mask"), HasSubstr("hmap.n"),
                      HasSubstr("--set padded_count=1: "), HasSubstr(" times\n")));
}

TEST(Why, TellsFalseSharingToBePadded) {
    const Outcome outcome = abortscope("why rtm-conflict --set bytes=disjoint");
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("false sharing: pad"),
                                   HasSubstr("--set bytes=padded: "), HasSubstr("95 % interval")));
}

TEST(Why, TellsLemmingsToWait) {
    const Outcome outcome = abortscope("why lemming --set sections=4000");
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("lemming effect"),
                      HasSubstr("--policy kleen-wait: wait until the lock is free before"),
                      HasSubstr("a code change")));
}

TEST(Why, SaysSoIfNothingAborts) {
    const Outcome outcome = abortscope("why rtm-conflict --set bytes=padded");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("Nothing aborts: all "));
    EXPECT_THAT(abortscope("why ovs-hmap --n 500 --policy none").out,
                HasSubstr("no transaction was tried"));
}

TEST(Why, WritesTheRowsOfEveryMeasuredTrialAndThePage) {
    const TemporaryFolder folder;
    const Outcome outcome =
        abortscope("why rtm-conflict --set bytes=disjoint,padded --csv " + folder.file("a.csv") +
                   " --markdown " + folder.file("a.md") + " --json " + folder.file("a.json"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const CsvTable rows = CsvTable::read(folder.file("a.csv"));
    // Two points, and against the worse one padding and one worker; three repeats of each.
    EXPECT_EQ(rows.rows(), 12u);
    EXPECT_THAT(contents_of(folder.file("a.md")),
                AllOf(HasSubstr("### Why rtm-conflict aborts"), HasSubstr("| --set bytes=padded"),
                      HasSubstr("abortscope why rtm-conflict")));
    EXPECT_THAT(contents_of(folder.file("a.json")), HasSubstr("\"rows\""));
    const Outcome alone = abortscope("why rtm-pause --csv - --quiet");
    EXPECT_THAT(alone.out, testing::StartsWith("schema_version,"));
    EXPECT_THAT(alone.out, Not(HasSubstr("Why:")));
}

TEST(Why, GivesTheSameBytesHoweverManyJobs) {
    const std::string words = "why lemming --set sections=500 --quiet --jobs ";
    EXPECT_EQ(abortscope(words + "1").out, abortscope(words + "3").out);
}

TEST(Why, NeedsTransactions) {
    const Outcome native = shell("\"$ABORTSCOPE\" doctor >/dev/null; echo $?");
    if (native.out == "0\n") GTEST_SKIP() << "this computer has RTM";
    const Outcome outcome = abortscope("why ovs-hmap --machine native --n 500");
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("needs RTM"));
    EXPECT_EQ(abortscope("why").code, 2);
    EXPECT_EQ(abortscope("why ovs-hmpa").code, 2);
}

TEST(Why, LeavesOutWhatDoesNotFitTheWorkload) {
    // Half as many workers are no whole group.
    const Outcome outcome =
        abortscope("why hackbench --threads 4 --set fan=2 --set messages=20 --lock tas --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr("--threads")));
}

TEST(RunWhy, ExplainsTheWorstTrialBelowTheTable) {
    const Outcome outcome =
        abortscope("run ovs-hmap --n 1000 --mutation 2,10 --repeat 3 --why --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::size_t why = outcome.out.find("Why: false sharing");
    ASSERT_NE(why, std::string::npos);
    EXPECT_LT(outcome.out.find("Where the attempts of search went"), why);
    EXPECT_THAT(outcome.out, HasSubstr("mutation 10 %"));
}

}  // namespace
}  // namespace abortscope
