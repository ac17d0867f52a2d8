// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_option.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/invocation.hpp"
#include "cli/session.hpp"
#include "cli/value_list.hpp"
#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"
#include "reports/numbers.hpp"
#include "reports/output.hpp"
#include "reports/trace_json.hpp"

namespace abortscope::cli {
namespace {

constexpr Range limit_range{1, 10'000'000};
/// At most about 20 MB of JSON a phase, which viewers open in seconds.
constexpr std::size_t default_limit = 50'000;

}  // namespace

void TraceOption::declare(CLI::App& app) {
    app.add_option("--trace", path_,
                   "write what happens in one trial of the model there, for ui.perfetto.dev")
        ->type_name("FILE")
        ->group("Output");
    app.add_option(
           "--trace-limit", limit_,
           fmt::format("spans of each phase in the trace at most; default {}", default_limit))
        ->type_name("N")
        ->group("Output");
}

void TraceOption::prepare(const std::vector<Trial>& trials, Exports& exports) {
    if (path_.empty()) {
        if (!limit_.empty()) throw UsageError("--trace-limit goes with --trace FILE");
        return;
    }
    const std::size_t limit =
        limit_.empty()
            ? default_limit
            : static_cast<std::size_t>(parse_integer("--trace-limit", limit_, limit_range));
    if (trials.size() != 1) {
        throw UsageError(
            fmt::format("--trace records one trial; this sweep has {}: name one value of each, "
                        "--policy too",
                        trials.size()));
    }
    const TrialSpec& spec = trials.front().spec;
    if (is_native(spec.machine)) {
        throw UsageError(
            "--trace needs a model machine: to watch hardware would change what it does");
    }
    exports.also_written(path_);
    require_writable(path_);
    tracer_ = std::make_shared<Tracer>(spec.threads, limit);
}

TrialQueue::Run TraceOption::runner() const {
    if (tracer_ == nullptr) return run_as_specified;
    return [tracer = tracer_](const Trial& trial) {
        TrialOptions options;
        options.observer = tracer.get();
        return run_trial(*trial.scenario, trial.spec, options);
    };
}

void TraceOption::write(const Measurement& row, bool with_notes) {
    if (tracer_ == nullptr) return;
    const Trace trace = tracer_->take();
    write_whole(path_, trace_json(trace, fmt::format("{} on {}", row.scenario, row.machine),
                                  report_context()));
    if (!with_notes) return;
    for (const TraceCut& cut : trace.cuts) {
        note(fmt::format(
            "--trace: {} is recorded for its first {} spans, up to {:.3f} ms; "
            "--trace-limit raises that",
            cut.phase, with_thousands(trace.limit), static_cast<double>(cut.time_ns) / 1e6));
    }
}

}  // namespace abortscope::cli
