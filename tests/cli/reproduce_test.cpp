// SPDX-License-Identifier: Apache-2.0
//
// `abortscope reproduce` as its user meets it: streams, files, exit codes.
#include <gmock/gmock.h>

#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ReproduceCommand, ShowsPublishedBesideMeasuredAndExitsWith0WhateverHolds) {
    const TemporaryFolder folder;
    const Outcome outcome =
        abortscope("reproduce rwsem-2019 --quick --csv " + folder.file("rows.csv") +
                   " --markdown " + folder.file("page.md"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, StartsWith("rwsem-2019: "));
    EXPECT_THAT(outcome.out, HasSubstr("Shapes:"));
    EXPECT_THAT(contents_of(folder.file("page.md")), StartsWith("## rwsem-2019: "));
    const auto rows = lines_of(contents_of(folder.file("rows.csv")));
    EXPECT_EQ(rows.size(), 1u + 2 * 4 * 2 * 3);
    EXPECT_THAT(rows[0], StartsWith("schema_version,scenario,"));
}

TEST(ReproduceCommand, GivesTheSameBytesWithAnyNumberOfJobs) {
    const std::string words = "reproduce rwsem-2019 --quick --repeat 2 --markdown - ";
    const Outcome first = abortscope(words + "--jobs 1");
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_THAT(first.out, StartsWith("## rwsem-2019"));
    EXPECT_EQ(abortscope(words + "--jobs 3").out, first.out);
    EXPECT_NE(abortscope(words + "--seed 9").out, first.out);
}

TEST(ReproduceCommand, RefusesWhatMakesNoSense) {
    const auto refused = [](const std::string& words) {
        const Outcome outcome = abortscope("reproduce " + words);
        EXPECT_EQ(outcome.code, 2) << words;
        EXPECT_EQ(outcome.out, "") << words;
        EXPECT_EQ(lines_of(outcome.err).size(), 1u) << words;
        return outcome.err;
    };
    EXPECT_THAT(refused(""), HasSubstr("no thread"));
    EXPECT_THAT(refused("rwsem-2091"), HasSubstr("did you mean 'rwsem-2019'?"));
    EXPECT_THAT(refused("rwsem-2019 --repeat 0"), HasSubstr("--repeat"));
    EXPECT_THAT(refused("rwsem-2019 --seed x"), HasSubstr("--seed"));
    EXPECT_THAT(refused("rwsem-2019 --csv - --markdown -"), HasSubstr("two files go to -"));
    EXPECT_EQ(abortscope("reproduce rwsem-2019 --csv /no/such/folder/x").code, 1);
}

}  // namespace
}  // namespace abortscope
