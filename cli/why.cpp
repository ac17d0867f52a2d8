// SPDX-License-Identifier: Apache-2.0
//
// abortscope why SCENARIO: what its transactions die of, and which change helps, measured.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "cli/command.hpp"
#include "cli/explain.hpp"
#include "cli/exports.hpp"
#include "cli/session.hpp"
#include "cli/sweep_options.hpp"
#include "profiler/columns.hpp"
#include "reports/output.hpp"

namespace abortscope::cli {
namespace {

struct WhyOptions {
    SweepOptions sweep{
        {.policies = SweepDefaults::Policies::one_that_elides, .repeats = enough_repeats}};
    Exports exports;
    bool quiet = false;
};

int interrupted() {
    note("interrupted: the finished rows are written whole");
    return exit_code::interrupted;
}

int why(WhyOptions& options) {
    std::vector<Trial> trials = options.sweep.trials();
    const unsigned jobs = options.sweep.jobs();
    const ScenarioEntry& scenario = options.sweep.scenario();
    const ScenarioInfo* scenarios[] = {scenario.info};
    options.exports.open(columns_for(scenarios));
    if (!options.quiet) {
        for (const std::string& line : options.sweep.notes()) note(line);
    }

    std::vector<Measurement> rows;
    const auto take = [&](const TrialResult& result) {
        options.exports.add(result);
        rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    };
    CaseFinder finder;
    const SessionResult session =
        run_session(std::move(trials), jobs, !options.quiet, [&](TrialResult result) {
            take(result);
            finder.add(scenario, result);
        });
    if (session.interrupted) {
        options.exports.finish(rows);
        return interrupted();
    }
    Output output = Output::standard();
    const Explained explained =
        explain_case(finder.worst(), jobs, !options.quiet, output.width(), take);
    options.exports.finish(rows, {.markdown = &explained.markdown});
    if (!options.exports.take_standard_output()) output.write(explained.text);
    return explained.interrupted ? interrupted() : exit_code::done;
}

}  // namespace

Action declare_why(CLI::App& app) {
    auto options = std::make_shared<WhyOptions>();
    options->sweep.declare(app);
    options->exports.declare(app);
    app.add_flag("--quiet", options->quiet, "no notes and no progress on standard error");
    return [options] { return why(*options); };
}

}  // namespace abortscope::cli
