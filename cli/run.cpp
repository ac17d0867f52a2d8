// SPDX-License-Identifier: Apache-2.0
//
// abortscope run SCENARIO: a sweep, its table on standard output, its rows in files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/color.hpp"
#include "cli/command.hpp"
#include "cli/explain.hpp"
#include "cli/exports.hpp"
#include "cli/hints.hpp"
#include "cli/session.hpp"
#include "cli/sweep_options.hpp"
#include "cli/trace_option.hpp"
#include "profiler/columns.hpp"
#include "profiler/counters/native_counters.hpp"
#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"
#include "profiler/sweep.hpp"
#include "profiler/trial_runner.hpp"
#include "reports/hot_lines_table.hpp"
#include "reports/numbers.hpp"
#include "reports/output.hpp"
#include "reports/terminal.hpp"

namespace abortscope::cli {
namespace {

struct RunOptions {
    SweepOptions sweep;
    Exports exports;
    TraceOption trace;
    bool quiet = false;
    bool verbose = false;
    bool dry_run = false;
    bool hot_lines = false;
    bool why = false;
    bool allow_force_abort = false;
};

constexpr std::size_t shown_hot_lines = 5;

/// The worst lines of one trial, under the command that runs it again.
std::string hot_lines_section(const TrialResult& result, const Paint& paint) {
    std::uint64_t aborts = 0;
    for (const Measurement& row : result.rows) {
        aborts += row.log ? row.log->aborts() : 0;
    }
    if (aborts == 0) return {};
    const std::size_t shown = std::min(result.hot_lines.size(), shown_hot_lines);
    return fmt::format("\nHottest lines of {}:\n\n", command_for(result.spec)) +
           hot_lines_table(std::span(result.hot_lines).first(shown), aborts, paint);
}

/// Why cells are empty, once for each reason.
void note_absent(const std::vector<Measurement>& rows) {
    std::vector<std::string> told;
    for (const Measurement& row : rows) {
        std::string reason = row.absent_reason();
        if (reason.empty() || std::find(told.begin(), told.end(), reason) != told.end()) continue;
        note(fmt::format("counters without a value on {}: {}", row.machine, reason));
        told.push_back(std::move(reason));
    }
}

/// Which counters are counted together, where they need more than one pass or the CPU sets a limit.
void note_plan(const std::vector<Measurement>& rows) {
    const bool native = std::any_of(rows.begin(), rows.end(),
                                    [](const Measurement& row) { return is_native(row.machine); });
    if (!native) return;
    const CounterPlan& plan = native_counter_plan();
    if (plan.passes.size() > 1 || !plan.budget_reason.empty()) note(plan.describe());
}

/// For --verbose, before the trials: how many, how they are counted, where the results go.
void tell_plan(const std::vector<Trial>& trials, unsigned jobs, const RunOptions& options) {
    note(fmt::format("{} {}, at most {} of the model at a time", trials.size(),
                     trials.size() == 1 ? "trial" : "trials", jobs));
    const auto is_on_model = [](const Trial& trial) { return !is_native(trial.spec.machine); };
    if (std::any_of(trials.begin(), trials.end(), is_on_model)) {
        note("counters: the model counts every event exactly");
    }
    if (!std::all_of(trials.begin(), trials.end(), is_on_model)) {
        note("counters on native: " + native_counter_plan().describe());
    }
    for (const std::string& file : options.exports.files()) note("writes " + file);
    if (!options.trace.path().empty()) note("writes --trace " + options.trace.path());
}

/// For --verbose, of each trial that has ended.
void tell_trial(std::size_t number, std::size_t all, const TrialResult& result) {
    std::uint64_t measured_ns = 0;
    for (const Measurement& row : result.rows) measured_ns += row.duration_ns;
    note(fmt::format("trial {} of {}: seed {}, {:.3f} ms measured, {:.2f} s taken: {}", number, all,
                     result.spec.seed, static_cast<double>(measured_ns) / 1e6,
                     static_cast<double>(result.host_ns) / 1e9, command_for(result.spec)));
}

bool is_command(std::string_view name) {
    return std::any_of(commands().begin(), commands().end(),
                       [&](const Command& command) { return command.name == name; });
}

/// Transactions that were counted as begun, but neither as committed nor as aborted: a few are cut
/// by the counters' start and stop, more than a percent is a counter that lies.
void note_residue(const std::vector<Measurement>& rows) {
    for (const Measurement& row : rows) {
        const auto residue = outcome_residue(row.counters);
        if (!residue) continue;
        const auto starts = static_cast<double>(*row.counters[index_of(Counter::tx_start)].value);
        if (std::abs(static_cast<double>(*residue)) <= 0.01 * starts) continue;
        note(
            fmt::format("{} {}: tx_start - tx_commit - tx_abort is {} of {} starts: the counters "
                        "contradict each other",
                        row.scenario, row.phase, *residue, starts));
    }
}

void note_speed(const SessionResult& session) {
    if (session.simulated_accesses == 0) return;
    note(fmt::format("{} {}, {} simulated accesses, {:.1f} million per second on each host thread",
                     session.trials_run, session.trials_run == 1 ? "trial" : "trials",
                     with_thousands(session.simulated_accesses), session.accesses_per_s() / 1e6));
}

/// The command of each trial, in the order in which they would run.
int show_trials(const std::vector<Trial>& trials) {
    std::string text;
    for (const Trial& trial : trials) text += command_for(trial.spec) + '\n';
    Output::standard().write(text);
    return exit_code::done;
}

int run(RunOptions& options, const CLI::App& app) {
    if (options.quiet && options.verbose) {
        throw UsageError("--quiet and --verbose exclude each other");
    }
    std::vector<Trial> trials = options.sweep.trials();
    const unsigned jobs = options.sweep.jobs();
    if (options.dry_run) return show_trials(trials);

    const ScenarioInfo* scenarios[] = {options.sweep.scenario().info};
    const std::vector<Column> columns = columns_for(scenarios);
    options.trace.prepare(trials, options.exports);
    options.exports.open(columns);
    if (!options.quiet) {
        for (const std::string& line : options.sweep.notes()) note(line);
    }

    PlanOptions plan_options;
    plan_options.allow_force_abort = options.allow_force_abort;
    plan_native_counters(plan_options);
    if (options.verbose) tell_plan(trials, jobs, options);
    const Output output = Output::standard();
    const Paint paint = paint_for(output);
    std::vector<Measurement> rows;
    std::string hot_lines;
    CaseFinder finder;
    std::size_t ended = 0;
    const std::size_t trial_count = trials.size();
    const auto take = [&](TrialResult result) {
        options.exports.add(result);
        if (options.verbose) tell_trial(++ended, trial_count, result);
        if (options.hot_lines) hot_lines += hot_lines_section(result, paint);
        if (options.why) finder.add(options.sweep.scenario(), result);
        rows.insert(rows.end(), std::make_move_iterator(result.rows.begin()),
                    std::make_move_iterator(result.rows.end()));
    };
    const SessionResult session =
        run_session(std::move(trials), jobs, !options.quiet, take, options.trace.runner());

    options.exports.finish(rows);
    if (!rows.empty()) options.trace.write(rows.front(), !options.quiet);
    if (!options.exports.take_standard_output()) {
        Output::standard().write(terminal_report(rows, columns, output.width(), paint) + hot_lines);
    }
    if (!options.quiet) {
        if (!options.verbose) note_plan(rows);
        note_residue(rows);
        note_absent(rows);
        note_speed(session);
    }
    if (!options.quiet && !session.interrupted) {
        const auto given = [&](std::string_view option) {
            const CLI::Option* known = app.get_option_no_throw(std::string(option));
            return known != nullptr && known->count() > 0;
        };
        for (const std::string& hint : hints_for(rows, given, is_command)) note("hint: " + hint);
    }
    if (!session.interrupted) {
        if (!options.why || options.exports.take_standard_output()) return exit_code::done;
        const Explained explained =
            explain_case(finder.worst(), jobs, !options.quiet, output.width(), {});
        Output::standard().write('\n' + explained.text);
        return explained.interrupted ? exit_code::interrupted : exit_code::done;
    }
    note(fmt::format("interrupted: {} of {} trials are complete", session.trials_run,
                     session.trials));
    return exit_code::interrupted;
}

}  // namespace

Action declare_run(CLI::App& app) {
    auto options = std::make_shared<RunOptions>();
    options->sweep.declare(app);
    options->exports.declare(app);
    options->trace.declare(app);
    app.add_flag("--quiet", options->quiet, "no notes and no progress on standard error");
    app.add_flag("-v,--verbose", options->verbose,
                 "say on standard error what is planned, and each trial as it ends");
    app.add_flag("--hot-lines", options->hot_lines,
                 "show the cache lines that transactions died of (on the model)");
    app.add_flag("--why", options->why,
                 "then explain the trial with the highest abort rate, as `abortscope why` does");
    app.add_flag("--allow-force-abort", options->allow_force_abort,
                 "natively, use the fourth counter even where that makes every transaction abort");
    app.add_flag("--dry-run", options->dry_run, "print the command of each trial and run none");
    return [options, &app] { return run(*options, app); };
}

}  // namespace abortscope::cli
