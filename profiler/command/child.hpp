// SPDX-License-Identifier: Apache-2.0
//
// Another program, run as a shell runs it, with a stop between fork and exec at which its counters
// are attached.
//
//   prepare() --fork--> held --release()--> running --wait()--> ended
//                         \--release(), exec failed--> ended
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace abortscope {

/// How a program ended.
struct ChildEnd {
    int exit_status = 0;  ///< what it returned; 0 if a signal ended it
    int signal = 0;       ///< the signal that ended it; 0 if it returned
    rusage usage{};       ///< of it and the descendants that it waited for

    /// As a shell's $?: the exit status, or 128 + signal.
    int shell_status() const { return signal != 0 ? 128 + signal : exit_status; }
};

/// What a shell returns if exec fails with `error`: 127 where there is no such command, else 126.
int shell_status_of_exec(int error);

class Child {
  public:
    /// Forks. The program gets this process's signal dispositions as they were before `prepare`,
    /// but SIGPIPE's default. Throws IoError if there are no processes or descriptors left.
    explicit Child(std::span<const std::string> command);
    /// Kills a program that was not waited for.
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }

    /// Lets it exec. Returns 0, or the errno of exec, and then it has ended.
    int release();

    /// Waits at most `timeout_ns`; nothing if it still runs.
    std::optional<ChildEnd> wait(std::uint64_t timeout_ns);

  private:
    pid_t pid_ = -1;
    int channel_ = -1;  // to the child "go", from it the errno of exec, or end of file
    int pid_descriptor_ = -1;
};

/// While it lives, Ctrl-C and Ctrl-\ are left to the program, which gets them from the terminal as
/// well, and SIGTERM and SIGHUP are passed on to it. One at a time.
class SignalsForChild {
  public:
    explicit SignalsForChild(pid_t child);
    ~SignalsForChild();
    SignalsForChild(const SignalsForChild&) = delete;
    SignalsForChild& operator=(const SignalsForChild&) = delete;
};

}  // namespace abortscope
