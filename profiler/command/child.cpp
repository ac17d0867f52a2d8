// SPDX-License-Identifier: Apache-2.0
#include "profiler/command/child.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <vector>

#include "machines/native/native_machine.hpp"
#include "profiler/errors.hpp"

namespace abortscope {
namespace {

using native::NativeMachine;

[[noreturn]] void fail(const char* what) {
    throw IoError(fmt::format("cannot run a program: {}: {}", what, std::strerror(errno)));
}

void close_if_open(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

/// read(2) without EINTR.
ssize_t read_all(int descriptor, void* to, std::size_t size) {
    ssize_t bytes = 0;
    do {
        bytes = ::read(descriptor, to, size);
    } while (bytes < 0 && errno == EINTR);
    return bytes;
}

/// In the child, where only async-signal-safe functions may be called.
[[noreturn]] void run_program(std::span<char* const> arguments, int channel) {
    std::signal(SIGPIPE, SIG_DFL);  // ignored by the profiler, and exec would hand that on
    char released = 0;
    // End of file without a byte: the profiler has died, and nobody will count this.
    if (read_all(channel, &released, 1) != 1) ::_exit(127);
    ::execvp(arguments.front(), arguments.data());
    const int error = errno;
    (void)!::write(channel, &error, sizeof(error));
    ::_exit(shell_status_of_exec(error));
}

constexpr std::array<int, 4> guarded_signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};

std::atomic<pid_t> signalled_child{0};
std::array<struct sigaction, guarded_signals.size()> previous_actions;

void pass_on(int signal) {
    const int error = errno;
    const pid_t child = signalled_child.load();
    if (child > 0) ::kill(child, signal);
    errno = error;
}

}  // namespace

int shell_status_of_exec(int error) {
    return error == ENOENT || error == ENOTDIR ? 127 : 126;
}

Child::Child(std::span<const std::string> command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(ends[0]);
        run_program(arguments, ends[1]);
    }
    ::close(ends[1]);
    channel_ = ends[0];
    if (pid_ < 0) {
        close_if_open(channel_);
        fail("fork");
    }
    // Absent before Linux 5.3: wait() then looks every millisecond.
    pid_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

Child::~Child() {
    close_if_open(channel_);
    close_if_open(pid_descriptor_);
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

int Child::release() {
    const char go = 1;
    // A child that was killed while it was held is noticed by wait().
    (void)::send(channel_, &go, 1, MSG_NOSIGNAL);
    int error = 0;
    // exec closes the child's end: end of file means that the program runs.
    const bool failed = read_all(channel_, &error, sizeof(error)) == sizeof(error);
    close_if_open(channel_);
    if (!failed) return 0;
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return error;
}

std::optional<ChildEnd> Child::wait(std::uint64_t timeout_ns) {
    constexpr std::uint64_t millisecond = 1'000'000;
    const std::uint64_t now = NativeMachine::now_ns();
    const std::uint64_t end = timeout_ns > ~now ? ~std::uint64_t{0} : now + timeout_ns;
    for (;;) {
        int status = 0;
        ChildEnd ended;
        const pid_t reaped = ::wait4(pid_, &status, WNOHANG, &ended.usage);
        if (reaped == pid_) {
            if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
            if (WIFEXITED(status)) ended.exit_status = WEXITSTATUS(status);
            pid_ = -1;
            return ended;
        }
        if (reaped < 0 && errno != EINTR) fail("wait");
        const std::uint64_t left_ns = end - std::min(end, NativeMachine::now_ns());
        if (left_ns == 0) return std::nullopt;
        if (pid_descriptor_ < 0) {
            NativeMachine::sleep_for_ns(std::min(left_ns, millisecond));
            continue;
        }
        pollfd event{pid_descriptor_, POLLIN, 0};
        const timespec limit{
            static_cast<time_t>(std::min(left_ns / 1'000'000'000u, std::uint64_t{1'000'000})),
            static_cast<long>(left_ns % 1'000'000'000u)};
        ::ppoll(&event, 1, &limit, nullptr);
    }
}

SignalsForChild::SignalsForChild(pid_t child) {
    signalled_child.store(child);
    for (std::size_t i = 0; i < guarded_signals.size(); ++i) {
        const bool from_terminal = guarded_signals[i] == SIGINT || guarded_signals[i] == SIGQUIT;
        struct sigaction action {};
        action.sa_handler = from_terminal ? SIG_IGN : pass_on;
        sigemptyset(&action.sa_mask);
        ::sigaction(guarded_signals[i], &action, &previous_actions[i]);
        // nohup's SIGHUP stays ignored.
        if (previous_actions[i].sa_handler == SIG_IGN) {
            ::sigaction(guarded_signals[i], &previous_actions[i], nullptr);
        }
    }
}

SignalsForChild::~SignalsForChild() {
    for (std::size_t i = 0; i < guarded_signals.size(); ++i) {
        ::sigaction(guarded_signals[i], &previous_actions[i], nullptr);
    }
    signalled_child.store(0);
}

}  // namespace abortscope
