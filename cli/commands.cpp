// SPDX-License-Identifier: Apache-2.0
//
// The table of subcommands. A new one is a file `cli/NAME.cpp`, its declaration and its row here.
#include "cli/command.hpp"

namespace abortscope::cli {

Action declare_run(CLI::App& app);
Action declare_compare(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_machines(CLI::App& app);
Action declare_replay(CLI::App& app);
Action declare_validate(CLI::App& app);
Action declare_columns(CLI::App& app);
Action declare_doctor(CLI::App& app);
Action declare_events(CLI::App& app);
Action declare_decode(CLI::App& app);
Action declare_stat(CLI::App& app);

namespace {

constexpr Command table[] = {
    {"run", "Run a scenario over lists of policies, threads and parameters", declare_run},
    {"compare", "Hold two CSV files, or the levels of one, against each other", declare_compare},
    {"list", "Show scenarios, policies and machines", declare_list},
    {"machines", "Show the machines, or every number of one", declare_machines},
    {"replay", "Run a trial again and show what led to one of its aborts", declare_replay},
    {"validate", "Show the model beside published measurements of hardware", declare_validate},
    {"columns", "Show what the columns of the results mean", declare_columns},
    {"doctor", "Can RTM be measured here? If not, why, and what to do", declare_doctor},
    {"events", "The TSX counters of this CPU or another, and whether they open", declare_events},
    {"decode", "Explain abort status words, or the transaction flags of perf samples",
     declare_decode},
    {.name = "stat",
     .summary = "Count any program, its threads and its children",
     .declare = declare_stat,
     .takes_command = true,
     .own_failure = exit_code::command_not_run},
};

}  // namespace

std::span<const Command> commands() {
    return table;
}

}  // namespace abortscope::cli
