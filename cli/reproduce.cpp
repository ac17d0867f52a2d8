// SPDX-License-Identifier: Apache-2.0
//
// abortscope reproduce THREAD: a mailing-list thread's experiment on the model, published beside
// measured, and which of its shapes hold. A shape that does not hold is a result, not a failure.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/exports.hpp"
#include "cli/invocation.hpp"
#include "cli/session.hpp"
#include "cli/value_list.hpp"
#include "machines/native/affinity.hpp"
#include "profiler/columns.hpp"
#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"
#include "reports/output.hpp"
#include "studies/reproduce/publication.hpp"
#include "studies/reproduce/report.hpp"

namespace abortscope::cli {
namespace {

using reproduce::Measured;
using reproduce::Publication;

constexpr std::string_view all_name = "all";
constexpr std::int64_t quick_divisor = 10;

struct ReproduceOptions {
    std::string thread;
    std::string seed = "1";
    std::string repeat;
    std::string jobs;
    Exports exports;
    bool quick = false;
    bool quiet = false;
};

std::vector<Publication> publications_of(const ReproduceOptions& options) {
    std::vector<std::string_view> names{all_name};
    std::vector<Publication> chosen;
    for (const reproduce::PublicationEntry& entry : reproduce::publications) {
        names.push_back(entry.name);
        if (options.thread != all_name && options.thread != entry.name) continue;
        chosen.push_back(entry.make(options.quick ? quick_divisor : 1));
    }
    if (options.thread.empty()) {
        throw UsageError("no thread: ovs-2016, qspinlock-2013, rwsem-2019, urcu-2011 or all");
    }
    if (chosen.empty()) throw UsageError(unknown_name("thread", options.thread, names));
    return chosen;
}

/// The columns of all scenarios that run.
std::vector<Column> columns_of(const std::vector<Publication>& publications) {
    std::vector<const ScenarioInfo*> scenarios;
    for (const Publication& publication : publications) {
        for (const TrialSpec& spec : publication.trials) {
            if (std::find(scenarios.begin(), scenarios.end(), spec.scenario) == scenarios.end()) {
                scenarios.push_back(spec.scenario);
            }
        }
    }
    return columns_for(scenarios);
}

/// One publication after the other, in one queue: each is shown as soon as its trials are done.
int run(ReproduceOptions& options) {
    const std::vector<Publication> publications = publications_of(options);
    const std::uint64_t seed = parse_seed("--seed", options.seed);
    const auto jobs = options.jobs.empty()
                          ? static_cast<unsigned>(native::allowed_cpus().size())
                          : static_cast<unsigned>(parse_integer("--jobs", options.jobs, {1, 1024}));
    std::vector<unsigned> repeats;
    std::vector<Trial> trials;
    for (const Publication& publication : publications) {
        repeats.push_back(options.repeat.empty() ? publication.repeats
                                                 : static_cast<unsigned>(parse_integer(
                                                       "--repeat", options.repeat, {1, 1'000})));
        for (Trial& trial : trials_of(publication, seed, repeats.back())) {
            trials.push_back(std::move(trial));
        }
    }
    options.exports.open(columns_of(publications));

    std::string markdown;
    std::size_t publication = 0;
    std::vector<Measurement> rows;
    std::vector<reproduce::Reproduction> reproductions;
    std::vector<std::vector<Measurement>> results;
    const SessionResult session =
        run_session(std::move(trials), jobs, !options.quiet, [&](TrialResult result) {
            options.exports.add(result);
            rows.insert(rows.end(), result.rows.begin(), result.rows.end());
            results.push_back(std::move(result.rows));
            const Publication& current = publications[publication];
            if (results.size() < current.trials.size() * repeats[publication]) return;
            reproductions.push_back(
                {&current, measured_from(current, results, repeats[publication])});
            const Measured& measured = reproductions.back().measured;
            const char* separator = publication == 0 ? "" : "\n";
            markdown += separator + reproduction_markdown(current, measured);
            if (!options.exports.take_standard_output()) {
                Output output = Output::standard();
                output.write(separator + reproduction_text(current, measured, output.width()));
            }
            ++publication;
            results.clear();
        });
    const std::string html = reproduction_html(reproductions, report_context());
    options.exports.finish(rows, {.markdown = &markdown, .html = &html});
    if (session.interrupted) {
        note(fmt::format("interrupted: {} of {} trials are complete", session.trials_run,
                         session.trials));
        return exit_code::interrupted;
    }
    return exit_code::done;
}

}  // namespace

Action declare_reproduce(CLI::App& app) {
    auto options = std::make_shared<ReproduceOptions>();
    app.add_option("THREAD", options->thread,
                   "ovs-2016, qspinlock-2013, rwsem-2019, urcu-2011, or all of them")
        ->type_name("");
    app.add_option("--seed", options->seed, "seed of the first repeat; default 1")->type_name("N");
    app.add_option("--repeat", options->repeat,
                   "times that each trial is run; default the thread's")
        ->type_name("N");
    app.add_option("--jobs", options->jobs,
                   "trials side by side; default the CPUs of this computer")
        ->type_name("N");
    app.add_flag("--quick", options->quick, "a tenth of the elements and of the time");
    app.add_flag("--quiet", options->quiet, "no progress on standard error");
    options->exports.declare(app);
    return [options] { return run(*options); };
}

}  // namespace abortscope::cli
