// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace abortscope {
namespace {

int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

Outcome shell(const std::string& command) {
    const TemporaryFolder folder;
    const std::string whole = "ABORTSCOPE='" ABORTSCOPE_PROGRAM "'; { " + command + "\n} >'" +
                              folder.file("out") + "' 2>'" + folder.file("err") + "'";
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", whole.c_str(), nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {code_of(status), contents_of(folder.file("out")), contents_of(folder.file("err"))};
}

Outcome abortscope(const std::string& words) {
    return shell("\"$ABORTSCOPE\" " + words);
}

RunningProgram::RunningProgram(const std::vector<std::string>& words) : child_(fork()) {
    if (child_ < 0) throw std::runtime_error("fork");
    if (child_ != 0) return;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
    const auto redirect = [](const std::string& path, int descriptor) {
        dup2(open(path.c_str(), O_WRONLY | O_CREAT, 0600), descriptor);
    };
    redirect(folder_.file("out"), STDOUT_FILENO);
    redirect(folder_.file("err"), STDERR_FILENO);
    std::vector<char*> arguments{const_cast<char*>(ABORTSCOPE_PROGRAM)};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(ABORTSCOPE_PROGRAM, arguments.data());
    _exit(127);
}

RunningProgram::~RunningProgram() {
    if (!is_running()) return;
    kill(child_, SIGKILL);
    waitpid(child_, &status_, 0);
}

void RunningProgram::signal(int number) const {
    kill(child_, number);
}

bool RunningProgram::is_running() {
    if (!ended_) ended_ = waitpid(child_, &status_, WNOHANG) == child_;
    return !ended_;
}

Outcome RunningProgram::wait() {
    if (!ended_) waitpid(child_, &status_, 0);
    ended_ = true;
    return {code_of(status_), contents_of(folder_.file("out")), contents_of(folder_.file("err"))};
}

TemporaryFolder::TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "abortscope-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::filesystem::remove_all(path_);
}

std::string contents_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}  // namespace abortscope
