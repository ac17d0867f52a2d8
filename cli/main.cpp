// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <span>

#include "cli/command.hpp"
#include "profiler/trial_queue.hpp"

namespace {

/// A closed standard descriptor would be given to the next file that is opened, and output meant
/// for the terminal would land in the CSV. Opened the wrong way round, it fails when it is used.
void occupy_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) != -1) continue;
        (void)open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR);
    }
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_descriptors();
    std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write(2), said once
    const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
    const int code = abortscope::cli::run_command_line(words.empty() ? words : words.subspan(1));
    // Nothing of ours is buffered, so nothing is lost.
    if (abortscope::trials_left_behind()) _exit(code);
    return code;
}
