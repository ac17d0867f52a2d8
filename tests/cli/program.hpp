// SPDX-License-Identifier: Apache-2.0
//
// Runs the program itself, as a user's shell would, for the tests of streams and exit codes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace abortscope {

struct Outcome {
    int code = -1;    ///< the exit status; -signal where one ended it
    std::string out;  ///< standard output
    std::string err;  ///< standard error
};

/// What /bin/sh does with the words after "abortscope", redirections and all. The program's path
/// is also in $ABORTSCOPE, for pipelines.
Outcome abortscope(const std::string& words);

/// Any command of /bin/sh.
Outcome shell(const std::string& command);

/// A folder that is gone with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

/// The program, started and not waited for: with its signals as a terminal leaves them.
class RunningProgram {
  public:
    explicit RunningProgram(const std::vector<std::string>& words);
    /// Kills it if nobody has waited for it.
    ~RunningProgram();
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    void signal(int number) const;
    bool is_running();
    Outcome wait();

  private:
    TemporaryFolder folder_;
    pid_t child_;
    bool ended_ = false;
    int status_ = 0;
};

std::string contents_of(const std::string& path);

std::vector<std::string> lines_of(const std::string& text);

}  // namespace abortscope
