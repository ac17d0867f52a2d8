// SPDX-License-Identifier: Apache-2.0
#include "studies/compare/points.hpp"

#include <gmock/gmock.h>

#include "profiler/errors.hpp"

namespace abortscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

const std::string header =
    "schema_version,scenario,phase,machine,lock,policy,threads,cpus,seed,repeat,mutation_pct,n,"
    "duration_ns,abort_rate\n";

std::string row(const std::string& policy, int seed, int mutation, double rate) {
    return "1,map,search,native,mutex," + policy + ",4,8," + std::to_string(seed) + ",0," +
           std::to_string(mutation) + ",100,5," + std::to_string(rate) + "\n";
}

CsvTable table(const std::string& rows, const std::string& name = "a.csv") {
    return CsvTable::parse(header + rows, name);
}

TEST(Matching, SeedsAndRepeatsAreTheSample) {
    const CsvTable before = table(row("none", 1, 2, 0.1) + row("none", 2, 2, 0.2));
    const CsvTable after = table(row("none", 7, 2, 0.3), "b.csv");
    const Matching matching = match(before, after);
    ASSERT_THAT(matching.points, SizeIs(1));
    EXPECT_THAT(matching.points[0].before.numbers("abort_rate"), ElementsAre(0.1, 0.2));
    EXPECT_THAT(matching.points[0].after.numbers("abort_rate"), ElementsAre(0.3));
    EXPECT_THAT(matching.varying(), IsEmpty());
}

TEST(Matching, ListsWhatOnlyOneSideHas) {
    const CsvTable before = table(row("none", 1, 2, 0) + row("ovs2016", 1, 2, 0));
    const CsvTable after = table(row("none", 1, 2, 0) + row("none", 1, 5, 0), "b.csv");
    const Matching matching = match(before, after);
    EXPECT_THAT(matching.points, SizeIs(1));
    ASSERT_THAT(matching.only_before, SizeIs(1));
    EXPECT_THAT(matching.only_before[0], testing::Contains("ovs2016"));
    ASSERT_THAT(matching.only_after, SizeIs(1));
    EXPECT_THAT(matching.only_after[0], testing::Contains("5"));
}

TEST(Matching, OfFilesWithNothingInCommonIsAnError) {
    const CsvTable before = table(row("none", 1, 2, 0));
    const CsvTable after = table(row("ovs2016", 1, 2, 0), "b.csv");
    EXPECT_THAT([&] { match(before, after); },
                ThrowsMessage<IoError>("no row of a.csv matches one of b.csv"));
}

TEST(Matching, AnOlderFileWithoutAParameterStillMatches) {
    const CsvTable older = CsvTable::parse(
        "schema_version,scenario,phase,machine,lock,policy,threads,cpus,seed,repeat,mutation_pct,"
        "duration_ns,abort_rate\n1,map,search,native,mutex,none,4,8,1,0,2,5,0.1\n",
        "old.csv");
    EXPECT_THAT(match(older, table(row("none", 1, 2, 0.2))).points, SizeIs(1));
    // With several values of it nobody knows which of them the older file had.
    const std::string other_n = "1,map,search,native,mutex,none,4,8,1,0,2,999,5,0.1\n";
    EXPECT_THROW(match(older, table(row("none", 1, 2, 0.2) + other_n)), IoError);
}

TEST(MatchingAlong, HoldsEveryLevelAgainstTheBaseline) {
    const CsvTable rows =
        table(row("none", 1, 2, 0.1) + row("ovs2016", 1, 2, 0.2) + row("none", 1, 5, 0.3) +
              row("ovs2016", 1, 5, 0.4) + row("none", 1, 10, 0.5) + row("ovs2016", 1, 10, 0.6));
    const Matching matching = match_along(rows, "mutation_pct", "2");
    ASSERT_THAT(matching.points, SizeIs(4));
    EXPECT_EQ(matching.key.back(), "mutation_pct");
    // A policy's levels stand together.
    EXPECT_EQ(matching.points[0].key.back(), "5");
    EXPECT_EQ(matching.points[1].key.back(), "10");
    EXPECT_THAT(matching.points[1].before.numbers("abort_rate"), ElementsAre(0.1));
    EXPECT_THAT(matching.points[1].after.numbers("abort_rate"), ElementsAre(0.5));
    EXPECT_THAT(matching.points[3].before.numbers("abort_rate"), ElementsAre(0.2));
    EXPECT_THAT(matching.points[3].after.numbers("abort_rate"), ElementsAre(0.6));
}

TEST(MatchingAlong, ListsWhatHasNoBaselineAndWhatIsOnlyBaseline) {
    const CsvTable rows = table(row("none", 1, 2, 0) + row("none", 1, 5, 0) + row("ck", 1, 2, 0) +
                                row("tbb", 1, 5, 0));
    const Matching matching = match_along(rows, "mutation_pct", "2");
    EXPECT_THAT(matching.points, SizeIs(1));
    ASSERT_THAT(matching.only_before, SizeIs(1));
    EXPECT_THAT(matching.only_before[0], testing::Contains("ck"));
    ASSERT_THAT(matching.only_after, SizeIs(1));
    EXPECT_THAT(matching.only_after[0], testing::Contains("tbb"));
}

TEST(MatchingAlong, RefusesWhatIsNotThere) {
    const CsvTable rows = table(row("none", 1, 2, 0) + row("none", 1, 5, 0));
    EXPECT_THAT([&] { match_along(rows, "mutation", "2"); },
                ThrowsMessage<UsageError>(HasSubstr("did you mean 'mutation_pct'?")));
    EXPECT_THAT([&] { match_along(rows, "mutation_pct", "3"); },
                ThrowsMessage<UsageError>("no row has mutation_pct '3'; there are: 2, 5"));
    EXPECT_THAT([&] { match_along(rows, "policy", "none"); },
                ThrowsMessage<UsageError>(HasSubstr("nothing to compare")));
}

}  // namespace
}  // namespace abortscope
