// SPDX-License-Identifier: Apache-2.0
//
// `abortscope shootout` as its user meets it.
#include <gmock/gmock.h>

#include "primitives/retry_policy.hpp"
#include "reports/csv_table.hpp"
#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using testing::HasSubstr;

TEST(Shootout, HasEveryPolicyInTheTableTheRowsAndThePage) {
    const TemporaryFolder folder;
    const std::string words = "shootout lemming --set sections=300 --quiet";
    const Outcome outcome = abortscope(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const std::string& line : lines_of(outcome.out)) EXPECT_LE(line.size(), 80u) << line;
    for (const RetryPolicy& policy : retry_policies) {
        EXPECT_THAT(outcome.out, HasSubstr('\n' + std::string(policy.name) + ' '));
    }
    EXPECT_THAT(outcome.out, HasSubstr(" *"));
    EXPECT_EQ(
        abortscope(words + " --csv " + folder.file("a.csv") + " --markdown " + folder.file("a.md"))
            .code,
        0);
    EXPECT_EQ(CsvTable::read(folder.file("a.csv")).rows(), 3 * retry_policies.size());
    EXPECT_THAT(contents_of(folder.file("a.md")), HasSubstr("| kleen-wait |"));
}

TEST(Shootout, NeedsAScenarioThatTakesALock) {
    const Outcome outcome = abortscope("shootout rtm-pause");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("takes no lock"));
}

}  // namespace
}  // namespace abortscope
