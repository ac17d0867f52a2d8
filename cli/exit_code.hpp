// SPDX-License-Identifier: Apache-2.0
//
// What the program's exit status says. `stat` alone passes on the status of the command that it
// ran, with the shell's 126, 127 and 128 + signal, and 125 for its own failures.
#pragma once

#include <string_view>

namespace abortscope::cli {

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;          ///< a check did not hold, an I/O error, a malformed file
inline constexpr int usage = 2;           ///< the command line makes no sense
inline constexpr int cannot_measure = 3;  ///< this computer cannot measure what was demanded
inline constexpr int regression = 4;      ///< `compare` found what --fail-if names
inline constexpr int command_not_run = 125;  ///< `stat` itself failed
inline constexpr int interrupted = 130;      ///< Ctrl-C or SIGTERM; finished rows are written
}  // namespace exit_code

struct ExitStatus {
    int code;
    std::string_view meaning;
};

/// For the man page; docs/command-line.md says the same at length.
inline constexpr ExitStatus exit_statuses[] = {
    {exit_code::done, "Done."},
    {exit_code::failed,
     "A workload's check did not hold, an I/O error, an unreadable or malformed file."},
    {exit_code::usage, "The command line makes no sense."},
    {exit_code::cannot_measure, "This computer cannot measure what was demanded."},
    {exit_code::regression, "compare found what --fail-if names."},
    {exit_code::command_not_run,
     "stat itself failed; otherwise it passes on the status of the command that it ran, with the "
     "shell's 126, 127 and 128 + signal."},
    {exit_code::interrupted, "Interrupted; the finished rows are written whole."},
};

}  // namespace abortscope::cli
