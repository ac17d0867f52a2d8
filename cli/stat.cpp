// SPDX-License-Identifier: Apache-2.0
//
// abortscope stat [options] -- COMMAND [ARGUMENTS]
//
// Standard output belongs to the command: the table goes to standard error, unless an export goes
// to standard output.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/color.hpp"
#include "cli/command.hpp"
#include "cli/invocation.hpp"
#include "machines/native/rtm_probe.hpp"
#include "profiler/command/stat.hpp"
#include "profiler/counters/self_test.hpp"
#include "profiler/errors.hpp"
#include "profiler/host/rtm_verdict.hpp"
#include "profiler/nearest.hpp"
#include "reports/output.hpp"
#include "reports/stat_report.hpp"

namespace abortscope::cli {
namespace {

struct Options {
    std::vector<std::string> command;
    std::vector<std::string> counters;
    unsigned repeat = 1;
    unsigned interval_ms = 0;
    std::string csv;
    std::string json;
    std::string markdown;
    std::string html;
    bool allow_force_abort = false;
    bool verbose = false;
    std::string output;
};

struct Export {
    const char* option;
    const char* help;
    std::string Options::*path;
};

constexpr Export exports[] = {
    {"--csv", "Write counts there as they come, as CSV; - for standard output", &Options::csv},
    {"--json", "Write all runs there, as JSON", &Options::json},
    {"--markdown", "Write a table there, as Markdown for a pull request", &Options::markdown},
    {"--html", "Write charts and a table there, as one HTML page", &Options::html},
    {"-o,--output", "Write the table there instead of to standard error", &Options::output},
};

bool takes_standard_output(const Options& options) {
    return std::any_of(std::begin(exports), std::end(exports),
                       [&](const Export& each) { return options.*each.path == "-"; });
}

/// All of them can be written, and no two to the same place, before the command runs.
void require_places(const Options& options) {
    std::vector<std::string> paths;
    for (const Export& each : exports) {
        const std::string& path = options.*each.path;
        if (path.empty()) continue;
        // CLI11 takes the dashes before the command for the value.
        if (path == "--") throw UsageError(fmt::format("{} needs a FILE", each.option));
        if (std::find(paths.begin(), paths.end(), path) != paths.end()) {
            throw UsageError(fmt::format("two files go to {}", path));
        }
        paths.push_back(path);
        require_writable(path);
    }
}

std::vector<Counter> asked_counters(const std::vector<std::string>& names) {
    std::vector<Counter> counters;
    for (const std::string& name : names) {
        const auto counter = counter_named(name);
        if (!counter) throw UsageError(unknown_name("counter", name, counter_names));
        counters.push_back(*counter);
    }
    if (counters.empty()) {
        for (std::size_t i = 0; i < counter_count; ++i) counters.push_back(counter_at(i));
    }
    return counters;
}

/// CLI11 leaves over what it does not know, up to and with the command: an option in front of the
/// command is one that nobody declared.
std::vector<std::string> command_of(const CLI::App& app) {
    std::vector<std::string> words = app.remaining();
    if (!words.empty() && words.front() == "--") return {words.begin() + 1, words.end()};
    if (!words.empty() && words.front().size() > 1 && words.front().front() == '-') {
        throw UsageError(fmt::format("unknown option {}; `abortscope stat --help` lists them",
                                     in_quotes(words.front())));
    }
    return words;
}

int run(const Options& options) {
    if (options.command.empty()) {
        throw UsageError("no command to run: abortscope stat [options] -- COMMAND");
    }
    require_places(options);
    const std::vector<Counter> asked = asked_counters(options.counters);
    PlanOptions plan_options;
    plan_options.allow_force_abort = options.allow_force_abort;
    const HostDescription host = describe_host();
    const CounterPlan plan = tested_plan(asked, plan_options);
    if (options.verbose) note(plan.describe());

    StatOptions stat;
    stat.command = options.command;
    stat.repeat = options.repeat;
    stat.interval_ns = options.interval_ms * std::uint64_t{1'000'000};

    std::optional<Output> table;
    if (!options.output.empty()) {
        table.emplace(Output::open(options.output));
    } else if (!takes_standard_output(options)) {
        table.emplace(Output::standard_error());
    }
    std::optional<Output> csv;
    if (!options.csv.empty()) csv.emplace(Output::open(options.csv));
    std::string header = stat_csv_header();  // once, if there are rows at all
    const auto on_interval = [&](std::size_t number, const StatInterval& interval) {
        if (csv) {
            csv->write(std::exchange(header, "") +
                       stat_csv(number, "interval", interval.end_ns, interval.readings));
        }
        if (table) table->write(stat_interval_text(interval));
    };
    const StatResult result = run_stat(stat, plan, host, kernel_perf(), on_interval);
    if (result.exec_error != 0) {
        note(fmt::format("cannot run {}: {}", in_quotes(options.command.front()),
                         std::strerror(result.exec_error)));
        return shell_status_of_exec(result.exec_error);
    }
    if (csv) csv->write(header + stat_csv_totals(result));
    if (!options.json.empty())
        write_whole(options.json, stat_json(stat, result, plan, report_context()));
    if (!options.markdown.empty()) {
        write_whole(options.markdown, stat_markdown(stat, result, plan, report_context()));
    }
    if (!options.html.empty()) {
        write_whole(options.html, stat_html(stat, result, plan, report_context()));
    }
    if (table) table->print(stat_text(stat, result, plan, paint_for(*table)));
    return result.status;
}

}  // namespace

Action declare_stat(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("--counters", options->counters, "Counters to count, as `events` names them")
        ->delimiter(',');
    app.add_option("-r,--repeat", options->repeat,
                   "Run the command this often; the runs go through the passes in turn")
        ->check(CLI::Range(1u, 1'000'000u));
    app.add_option("-I,--interval", options->interval_ms, "Also print counts every so many ms")
        ->check(CLI::Range(1u, 86'400'000u));
    for (const Export& each : exports) {
        app.add_option(each.option, (*options).*each.path, each.help)
            ->type_name("FILE")
            ->group("Output");
    }
    app.add_flag("--allow-force-abort", options->allow_force_abort,
                 "Use the fourth counter even where that makes every transaction abort");
    app.add_flag("-v,--verbose", options->verbose, "Print which counters are counted together");
    app.prefix_command();
    app.footer(
        "Exit code: the command's own; 128 + signal if one ended it; 127 if there is no\n"
        "such command, 126 if it cannot be run, 125 if stat itself failed.");
    return [options, &app] {
        options->command = command_of(app);
        return run(*options);
    };
}

}  // namespace abortscope::cli
