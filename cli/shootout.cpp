// SPDX-License-Identifier: Apache-2.0
//
// abortscope shootout SCENARIO: every retry policy on one workload, throughput against waste.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "cli/command.hpp"
#include "cli/exports.hpp"
#include "cli/invocation.hpp"
#include "cli/session.hpp"
#include "cli/sweep_options.hpp"
#include "profiler/columns.hpp"
#include "profiler/errors.hpp"
#include "reports/output.hpp"
#include "studies/shootout/shootout.hpp"

namespace abortscope::cli {
namespace {

struct ShootoutOptions {
    SweepOptions sweep{{.policies = SweepDefaults::Policies::all, .repeats = 3}};
    Exports exports;
    bool quiet = false;
};

int shootout(ShootoutOptions& options) {
    const ScenarioInfo* scenarios[] = {options.sweep.scenario().info};
    if (scenarios[0]->locks.empty()) {
        throw UsageError(
            fmt::format("{} takes no lock, so it knows no retry policy", scenarios[0]->name));
    }
    std::vector<Trial> trials = options.sweep.trials();
    const std::vector<Column> columns = columns_for(scenarios);
    options.exports.open(columns);
    if (!options.quiet) {
        for (const std::string& line : options.sweep.notes()) note(line);
    }
    std::vector<Measurement> rows;
    const SessionResult session = run_session(
        std::move(trials), options.sweep.jobs(), !options.quiet, [&](TrialResult result) {
            options.exports.add(result);
            rows.insert(rows.end(), result.rows.begin(), result.rows.end());
        });
    const std::vector<Contest> contests = contests_of(rows, columns);
    const std::string markdown = shootout_markdown(contests, report_context());
    options.exports.finish(rows, {.markdown = &markdown});
    if (!options.exports.take_standard_output()) {
        Output output = Output::standard();
        output.write(shootout_text(contests, output.width()));
    }
    if (!session.interrupted) return exit_code::done;
    note(fmt::format("interrupted: {} of {} trials are complete", session.trials_run,
                     session.trials));
    return exit_code::interrupted;
}

}  // namespace

Action declare_shootout(CLI::App& app) {
    auto options = std::make_shared<ShootoutOptions>();
    options->sweep.declare(app);
    options->exports.declare(app);
    app.add_flag("--quiet", options->quiet, "no notes and no progress on standard error");
    return [options] { return shootout(*options); };
}

}  // namespace abortscope::cli
