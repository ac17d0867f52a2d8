// SPDX-License-Identifier: Apache-2.0
#include "profiler/command/child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

namespace abortscope {
namespace {

constexpr std::uint64_t for_ever = ~std::uint64_t{0};

ChildEnd run(const std::vector<std::string>& command) {
    Child child(command);
    EXPECT_EQ(child.release(), 0);
    return child.wait(for_ever).value();
}

TEST(Child, PassesOnTheExitStatusAndTheSignal) {
    EXPECT_EQ(run({"true"}).shell_status(), 0);
    EXPECT_EQ(run({"sh", "-c", "exit 3"}).shell_status(), 3);
    const ChildEnd killed = run({"sh", "-c", "kill -KILL $$"});
    EXPECT_EQ(killed.signal, SIGKILL);
    EXPECT_EQ(killed.shell_status(), 137);
}

TEST(Child, AFailedExecIsItsErrnoAndTheShellsStatus) {
    Child missing(std::vector<std::string>{"missing-command"});
    EXPECT_EQ(missing.release(), ENOENT);
    EXPECT_EQ(shell_status_of_exec(ENOENT), 127);
    Child directory(std::vector<std::string>{"/tmp"});
    EXPECT_EQ(directory.release(), EACCES);
    EXPECT_EQ(shell_status_of_exec(EACCES), 126);
}

TEST(Child, IsHeldUntilItIsReleased) {
    Child child(std::vector<std::string>{"true"});
    EXPECT_EQ(child.wait(20'000'000), std::nullopt);
    EXPECT_EQ(child.release(), 0);
    EXPECT_TRUE(child.wait(for_ever).has_value());
}

TEST(Child, WaitGivesUpAfterItsTime) {
    Child child(std::vector<std::string>{"sleep", "60"});
    EXPECT_EQ(child.release(), 0);
    EXPECT_EQ(child.wait(5'000'000), std::nullopt);
    EXPECT_EQ(::kill(child.pid(), SIGTERM), 0);
    EXPECT_EQ(child.wait(for_ever)->signal, SIGTERM);
}

TEST(Child, OneThatNobodyWaitedForIsKilled) {
    pid_t pid = 0;
    {
        Child child(std::vector<std::string>{"sleep", "60"});
        EXPECT_EQ(child.release(), 0);
        pid = child.pid();
    }
    EXPECT_EQ(::kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST(Child, OneThatIsKilledWhileItIsHeldEndsLikeAnyOther) {
    Child child(std::vector<std::string>{"true"});
    EXPECT_EQ(::kill(child.pid(), SIGKILL), 0);
    EXPECT_EQ(child.release(), 0);
    EXPECT_EQ(child.wait(for_ever)->signal, SIGKILL);
}

TEST(Child, TheProgramHasSigpipeAsAShellWouldGiveIt) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    // A shell that finds SIGPIPE ignored cannot set a trap on it.
    const ChildEnd end = run({"sh", "-c", "kill -PIPE $$; exit 5"});
    std::signal(SIGPIPE, before);
    EXPECT_EQ(end.signal, SIGPIPE);
}

TEST(SignalsForChild, TermGoesToTheProgramAndCtrlCIsLeftToIt) {
    Child child(std::vector<std::string>{"sleep", "60"});
    EXPECT_EQ(child.release(), 0);
    {
        const SignalsForChild signals(child.pid());
        ::raise(SIGINT);   // ignored here: the terminal sends it to both
        ::raise(SIGTERM);  // passed on
        EXPECT_EQ(child.wait(for_ever)->signal, SIGTERM);
    }
    struct sigaction restored {};
    ::sigaction(SIGTERM, nullptr, &restored);
    EXPECT_EQ(restored.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace abortscope
