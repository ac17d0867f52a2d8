// SPDX-License-Identifier: Apache-2.0
//
// A subcommand: one thin file `cli/NAME.cpp` with one function, and one row in cli/commands.cpp.
//
//     Action declare_decode(CLI::App& app) {
//         auto words = std::make_shared<std::vector<std::string>>();
//         app.add_option("STATUS", *words, "Status words, in hexadecimal or decimal");
//         return [words] { ...; return exit_code::done; };
//     }
//
// `declare` states the options; the action runs after they have been parsed. Results go to
// standard output through Output (reports/output.hpp), all else to standard error through `note`.
// An action reports failure by throwing (profiler/errors.hpp); main.cpp alone turns an exception
// into a line and an exit status. What CLI11 leaves over (words and options that nobody declared)
// main.cpp refuses with the nearest name, unless the action's command takes a command to run.
//
// The program ignores SIGPIPE; a child process must have it set back to the default.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string_view>

#include "cli/exit_code.hpp"
#include "reports/paint.hpp"

namespace abortscope::cli {

/// Does the work and returns the exit status.
using Action = std::function<int()>;

struct Example {
    std::string_view command;
    std::string_view meaning;
};

struct Command {
    std::string_view name;
    std::string_view summary;
    Action (*declare)(CLI::App& app);
    /// The rest of the line is somebody else's command: declare a positional with
    /// app.prefix_command() and read app.remaining().
    bool takes_command = false;
    /// If not 0, the exit status of every failure of the subcommand's own, usage included: for one
    /// that passes another program's status on.
    int own_failure = 0;
    /// Shown by --help and in the man page.
    std::span<const Example> examples{};
};

/// The table, in the order of the help.
std::span<const Command> commands();

/// Parses and runs one command line without the program's name; returns the exit status.
/// Every failure has become one line on standard error.
int run_command_line(std::span<const char* const> arguments);

/// One line on standard error, after "abortscope: ", which has the tone. Never throws.
void note(std::string_view line, Tone tone = Tone::plain) noexcept;

}  // namespace abortscope::cli
