// SPDX-License-Identifier: Apache-2.0
//
// What the program's exit status says. `stat` alone passes on the status of the command that it
// ran, with the shell's 126, 127 and 128 + signal, and 125 for its own failures.
#pragma once

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

}  // namespace abortscope::cli
