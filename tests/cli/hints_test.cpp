// SPDX-License-Identifier: Apache-2.0
#include "cli/hints.hpp"

#include <gmock/gmock.h>

#include <set>

namespace abortscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Measurement row(const char* policy, std::uint64_t attempts, std::uint64_t conflicts,
                std::uint64_t capacity) {
    Measurement row;
    row.scenario = "ovs-hmap";
    row.phase = "search";
    row.machine = "model:haswell";
    row.policy = policy;
    row.log.emplace();
    row.log->attempts = attempts;
    row.log->causes[static_cast<std::size_t>(rtm::Cause::conflict)] = conflicts;
    row.log->causes[static_cast<std::size_t>(rtm::Cause::capacity)] = capacity;
    return row;
}

std::vector<std::string> hints(const std::vector<Measurement>& rows,
                               const std::set<std::string, std::less<>>& given = {},
                               const std::set<std::string, std::less<>>& commands = {}) {
    return hints_for(
        rows, [&](std::string_view option) { return given.contains(option); },
        [&](std::string_view command) { return commands.contains(command); });
}

TEST(Hints, NameWhatWouldTellMoreAndIsNotGiven) {
    const std::vector<Measurement> rows{row("none", 0, 0, 0), row("a", 100, 30, 0),
                                        row("b", 100, 9, 1), row("c", 100, 0, 40)};
    EXPECT_THAT(
        hints(rows),
        ElementsAre("2 of 3 policies abort mostly for conflicts: --hot-lines names the lines",
                    HasSubstr("--repeat 5")));
    EXPECT_THAT(hints(rows, {"--hot-lines"}), ElementsAre(HasSubstr("--repeat 5")));
    EXPECT_THAT(hints(rows, {"--hot-lines", "--repeat"}), IsEmpty());
}

TEST(Hints, AskWhyOnlyWhereThereIsSuchACommandAndManyAbort) {
    const std::vector<Measurement> rows{row("a", 100, 5, 40)};
    EXPECT_THAT(hints(rows, {}, {"why"}),
                ElementsAre("45 % of the attempts of a abort: "
                            "`abortscope why ovs-hmap --policy a` says why"));
    EXPECT_THAT(hints(rows, {"--why"}, {"why"}), IsEmpty());
    EXPECT_THAT(hints(rows), IsEmpty());
    EXPECT_THAT(hints({row("a", 100, 1, 10)}, {}, {"why"}), IsEmpty());
}

TEST(Hints, AreAtMostTwoAndNoneOfNothing) {
    const std::vector<Measurement> rows{row("a", 100, 60, 0), row("b", 100, 60, 0)};
    EXPECT_EQ(hints(rows, {}, {"why"}).size(), 2u);
    EXPECT_THAT(hints({}), IsEmpty());
    EXPECT_THAT(hints({row("a", 100, 0, 0)}), IsEmpty());
}

TEST(Hints, OfHotLinesAreForTheModel) {
    std::vector<Measurement> rows{row("a", 100, 60, 0)};
    rows[0].machine = "native";
    EXPECT_THAT(hints(rows, {}, {"why"}), IsEmpty());
}

}  // namespace
}  // namespace abortscope::cli
