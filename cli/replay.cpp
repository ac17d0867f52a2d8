// SPDX-License-Identifier: Apache-2.0
//
// abortscope replay SCENARIO ... --abort K: what led to one abort of one trial.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/sweep_options.hpp"
#include "cli/value_list.hpp"
#include "profiler/errors.hpp"
#include "reports/output.hpp"
#include "studies/replay.hpp"

namespace abortscope::cli {
namespace {

constexpr Range abort_range{1, 1'000'000'000'000};
constexpr Range last_range{1, 1000};

struct ReplayOptions {
    SweepOptions sweep;
    std::string abort = "1";
    std::string last = "12";
};

int run(ReplayOptions& options) {
    const auto number =
        static_cast<std::uint64_t>(parse_integer("--abort", options.abort, abort_range));
    const auto last = static_cast<std::size_t>(parse_integer("--last", options.last, last_range));
    const std::vector<Trial> trials = options.sweep.trials();
    if (trials.size() != 1) {
        throw UsageError(
            fmt::format("replay takes one trial, and these lists make {}: name one "
                        "value of each, --policy too",
                        trials.size()));
    }
    const Trial& trial = trials.front();
    Output::standard().print(text_of(replay_abort(*trial.scenario, trial.spec, number, last)));
    return exit_code::done;
}

}  // namespace

Action declare_replay(CLI::App& app) {
    auto options = std::make_shared<ReplayOptions>();
    options->sweep.declare(app);
    app.add_option("--abort", options->abort, "which abort of the trial, from 1; default 1")
        ->type_name("K");
    app.add_option("--last", options->last, "accesses shown of each side; default 12")
        ->type_name("N");
    return [options] { return run(*options); };
}

}  // namespace abortscope::cli
