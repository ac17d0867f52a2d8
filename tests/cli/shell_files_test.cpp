// SPDX-License-Identifier: Apache-2.0
//
// Help, man page and completions: they derive from the declarations, so what is tested is that
// shells and roff take them.
#include <gmock/gmock.h>

#include "cli/command.hpp"
#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using testing::HasSubstr;
using testing::Not;

bool is_installed(const std::string& program) {
    return shell("command -v " + program + " >/dev/null").code == 0;
}

/// What bash offers after that line.
std::string completed(const std::string& line) {
    const Outcome outcome = shell(
        "bash -c 'eval \"$(\"$0\" completion bash)\"; COMP_LINE=$1; COMP_POINT=${#1}; _abortscope; "
        "echo \"${COMPREPLY[*]}\"' \"$ABORTSCOPE\" '" +
        line + "'");
    EXPECT_EQ(outcome.err, "") << line;
    return outcome.out.substr(0, outcome.out.find('\n'));
}

TEST(BashCompletion, KnowsCommandsOptionsAndNames) {
    EXPECT_THAT(completed("abortscope "), HasSubstr("run why shootout compare list"));
    EXPECT_EQ(completed("abortscope comp"), "compare completion");
    EXPECT_EQ(completed("abortscope run ovs-h"), "ovs-hmap");
    EXPECT_EQ(completed("abortscope run ovs-hmap --pol"), "--policy");
    EXPECT_EQ(completed("abortscope run ovs-hmap --policy ovs"), "ovs2016");
    EXPECT_EQ(completed("abortscope run --policy none,kl"), "none,kleen-wait");
    EXPECT_EQ(completed("abortscope completion f"), "fish");
}

TEST(BashCompletion, LeavesFilesToTheShell) {
    EXPECT_EQ(completed("abortscope run ovs-hmap --csv "), "");
}

TEST(BashCompletion, CutsWhatBashTakesForAWordOfItsOwn) {
    EXPECT_EQ(completed("abortscope run ovs-hmap --machine model:has"), "haswell");
}

TEST(ZshCompletion, IsSyntacticallyRight) {
    if (!is_installed("zsh")) GTEST_SKIP() << "no zsh here";
    const Outcome outcome = shell("\"$ABORTSCOPE\" completion zsh | zsh -n /dev/stdin");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
}

TEST(FishCompletion, OffersScenariosAndOptions) {
    if (!is_installed("fish")) GTEST_SKIP() << "no fish here";
    const Outcome outcome = shell(
        "export PATH=\"$(dirname \"$ABORTSCOPE\"):$PATH\"; fish --no-config -c '"
        "abortscope completion fish | source; complete -C \"abortscope run ovs\"; "
        "complete -C \"abortscope run --pol\"'");
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("ovs-hmap"));
    EXPECT_THAT(outcome.out, HasSubstr("--policy"));
}

TEST(Completion, OfAnUnknownShellIsRefused) {
    EXPECT_EQ(abortscope("completion zhs").code, 2);
    EXPECT_THAT(abortscope("completion zhs").err, HasSubstr("did you mean 'zsh'?"));
    EXPECT_EQ(abortscope("completion").code, 2);
}

TEST(ManPage, HasNoWarningsAndEveryCommand) {
    const std::string page = abortscope("man").out;
    for (const cli::Command& command : cli::commands()) {
        EXPECT_THAT(page, HasSubstr("abortscope " + std::string(command.name) + " "));
    }
    if (!is_installed("groff")) GTEST_SKIP() << "no groff here";
    const Outcome outcome = shell("\"$ABORTSCOPE\" man | groff -k -man -Tutf8 -ww -z");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
}

TEST(Help, OfEveryCommandFitsEightyColumns) {
    for (const cli::Command& command : cli::commands()) {
        for (const char* flag : {" -h", " --help"}) {
            const Outcome outcome = abortscope(std::string(command.name) + flag);
            EXPECT_EQ(outcome.code, 0) << command.name;
            EXPECT_EQ(outcome.err, "") << command.name;
            EXPECT_THAT(outcome.out, HasSubstr("Usage: abortscope " + std::string(command.name)));
            for (const std::string& line : lines_of(outcome.out)) {
                const bool is_command = line.starts_with("  abortscope");  // kept whole
                EXPECT_TRUE(is_command || line.size() <= 80) << line;
            }
        }
    }
}

TEST(Help, HasExamplesOnlyAtLength) {
    EXPECT_THAT(abortscope("run --help").out, HasSubstr("Examples:"));
    EXPECT_THAT(abortscope("run -h").out, Not(HasSubstr("Examples:")));
}

}  // namespace
}  // namespace abortscope
