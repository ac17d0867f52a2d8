// SPDX-License-Identifier: Apache-2.0
//
// Lines on a terminal of 80 columns, and whole into a pipe.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// What it writes to standard error where that is a terminal of 80 columns, without colours.
std::vector<std::string> errors_on_a_terminal(const std::string& words) {
    int terminal = -1;
    int program_side = -1;
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 80;
    std::string name(64, '\0');
    if (openpty(&terminal, &program_side, name.data(), nullptr, &size) != 0) return {};
    shell("\"$ABORTSCOPE\" " + words + " --color never 2>" + name.c_str() + " >/dev/null");
    std::string text(4096, '\0');
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    const ssize_t length = read(terminal, text.data(), text.size());
    close(program_side);
    close(terminal);
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    std::erase(text, '\r');
    std::vector<std::string> lines = lines_of(text);
    for (std::string& line : lines) {
        // Progress that stood there before was cleared.
        const std::size_t cleared = line.rfind("\x1b[K");
        if (cleared != std::string::npos) line.erase(0, cleared + 3);
    }
    return lines;
}

TEST(TerminalWidth, NotesAndErrorsAreFoldedToIt) {
    for (const char* words : {"run rtm-conflict --set overlap=same", "run rtm-pause --verbose"}) {
        const std::vector<std::string> lines = errors_on_a_terminal(words);
        EXPECT_GT(lines.size(), 1u) << words;
        for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
    }
}

TEST(TerminalWidth, AnErrorIntoAPipeIsOneLine) {
    const Outcome outcome = abortscope("run rtm-conflict --set overlap=same");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(lines_of(outcome.err), SizeIs(1));
    EXPECT_THAT(outcome.err, HasSubstr("there are: transactions, roles, bytes, "));
}

TEST(TerminalWidth, TheOverviewFitsEightyColumns) {
    for (const std::string& line : lines_of(abortscope("--help").out)) {
        EXPECT_LE(line.size(), 80u) << line;
    }
}

}  // namespace
}  // namespace abortscope
