// SPDX-License-Identifier: Apache-2.0
//
// The table of subcommands. A new one is a file `cli/NAME.cpp`, its declaration and its row here.
#include "cli/command.hpp"

namespace abortscope::cli {

Action declare_run(CLI::App& app);
Action declare_why(CLI::App& app);
Action declare_shootout(CLI::App& app);
Action declare_compare(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_machines(CLI::App& app);
Action declare_replay(CLI::App& app);
Action declare_reproduce(CLI::App& app);
Action declare_validate(CLI::App& app);
Action declare_columns(CLI::App& app);
Action declare_doctor(CLI::App& app);
Action declare_events(CLI::App& app);
Action declare_decode(CLI::App& app);
Action declare_stat(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_man(CLI::App& app);

namespace {

constexpr Example run_examples[] = {
    {"abortscope run ovs-hmap --mutation 2,5,10", "how abort rates rise with the share of writers"},
    {"abortscope run lemming --policy none,ovs2016,kleen-wait --repeat 5 --html r.html",
     "retry policies, five seeds each, with charts"},
    {"abortscope run ovs-hmap --machine native --csv -", "on this computer, rows to a pipe"},
    {"abortscope run ovs-hmap --threads 1,2,4,8 --dry-run", "which trials that would be"},
};
constexpr Example why_examples[] = {
    {"abortscope why ovs-hmap --mutation 10", "which line it is, and what padding it gains"},
    {"abortscope why lemming --repeat 5", "why all follow one into the lock"},
};
constexpr Example shootout_examples[] = {
    {"abortscope shootout lemming --repeat 5", "which policies nobody beats in speed and waste"},
};
constexpr Example compare_examples[] = {
    {"abortscope compare before.csv after.csv --fail-if 'abort_rate > +2pp'",
     "exit 4 where the abort rate rose by more than 2 percentage points"},
    {"abortscope compare out.csv --by mutation_pct --baseline 2",
     "the levels of one file against its 2 % level"},
};
constexpr Example list_examples[] = {
    {"abortscope list", "all scenarios, policies and machines"},
    {"abortscope list ovs-hmap", "one scenario's phases, locks and parameters"},
};
constexpr Example reproduce_examples[] = {
    {"abortscope reproduce all", "every thread; about three minutes on two cores"},
    {"abortscope reproduce rwsem-2019 --csv rows.csv", "one thread, and its rows"},
};
constexpr Example stat_examples[] = {
    {"abortscope stat -- ./my-program --threads 4",
     "its transactions, aborts and their categories"},
};
constexpr Example decode_examples[] = {
    {"abortscope decode 0x6 0xff000001", "a conflict, and a lock that was found taken"},
};

constexpr Command table[] = {
    {.name = "run",
     .summary = "Run a scenario over lists of policies, threads and parameters",
     .declare = declare_run,
     .examples = run_examples},
    {.name = "why",
     .summary = "What transactions die of, and which change helps: each measured",
     .declare = declare_why,
     .examples = why_examples},
    {.name = "shootout",
     .summary = "Every retry policy on one workload: throughput against waste",
     .declare = declare_shootout,
     .examples = shootout_examples},
    {.name = "compare",
     .summary = "Hold two CSV files, or the levels of one, against each other",
     .declare = declare_compare,
     .examples = compare_examples},
    {.name = "list",
     .summary = "Show scenarios, policies and machines",
     .declare = declare_list,
     .examples = list_examples},
    {"machines", "Show the machines, or every number of one", declare_machines},
    {"replay", "Run a trial again and show what led to one of its aborts", declare_replay},
    {.name = "reproduce",
     .summary = "Run mailing-list threads' experiments, published beside measured",
     .declare = declare_reproduce,
     .examples = reproduce_examples},
    {"validate", "Show the model beside published measurements of hardware", declare_validate},
    {"columns", "Show what the columns of the results mean", declare_columns},
    {"doctor", "Can RTM be measured here? If not, why, and what to do", declare_doctor},
    {"events", "The TSX counters of this CPU or another, and whether they open", declare_events},
    {.name = "decode",
     .summary = "Explain abort statuses, or transaction flags of perf samples",
     .declare = declare_decode,
     .examples = decode_examples},
    {.name = "stat",
     .summary = "Count any program, its threads and its children",
     .declare = declare_stat,
     .takes_command = true,
     .own_failure = exit_code::command_not_run,
     .examples = stat_examples},
    {"completion", "Print the completions of bash, zsh or fish", declare_completion},
    {"man", "Print the man page", declare_man},
};

}  // namespace

std::span<const Command> commands() {
    return table;
}

}  // namespace abortscope::cli
