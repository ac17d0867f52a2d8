// SPDX-License-Identifier: Apache-2.0
//
// abortscope compare A.csv B.csv, or compare FILE.csv --by COLUMN --baseline VALUE.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/color.hpp"
#include "cli/command.hpp"
#include "cli/invocation.hpp"
#include "cli/value_list.hpp"
#include "profiler/errors.hpp"
#include "reports/csv_table.hpp"
#include "reports/output.hpp"
#include "studies/compare/comparison.hpp"
#include "studies/compare/fail_condition.hpp"

namespace abortscope::cli {
namespace {

struct CompareOptions {
    std::string before;
    std::string after;
    std::string by;
    std::string baseline;
    std::string metrics;
    std::vector<std::string> fail_if;
    bool strict = false;
    std::string csv;
    std::string json;
    std::string markdown;
    std::string html;
};

using Form = std::string (*)(const Comparison&, const ReportContext&);

struct Export {
    const char* option;
    const char* help;
    std::string CompareOptions::*path;
    Form form;
};

constexpr Export exports[] = {
    {"--csv", "write every change there, as CSV; - for standard output", &CompareOptions::csv,
     [](const Comparison& comparison, const ReportContext&) { return comparison_csv(comparison); }},
    {"--json", "write the comparison there, as JSON", &CompareOptions::json, comparison_json},
    {"--markdown", "write tables there, as Markdown for a pull request", &CompareOptions::markdown,
     comparison_markdown},
    {"--html", "write charts and a table there, as one HTML page", &CompareOptions::html,
     comparison_html},
};

std::vector<Metric> metrics_of(const CompareOptions& options,
                               const std::vector<FailCondition>& conditions) {
    std::vector<Metric> metrics;
    if (options.metrics.empty()) {
        metrics = default_metrics();
    } else {
        for (const std::string& name : split_list("--metric", options.metrics)) {
            metrics.push_back(metric_named(name));
        }
    }
    for (const FailCondition& condition : conditions) {
        const bool known = std::any_of(metrics.begin(), metrics.end(), [&](const Metric& metric) {
            return metric.column == condition.metric.column;
        });
        if (!known) metrics.push_back(condition.metric);
    }
    return metrics;
}

CsvTable table_from(const std::string& path) {
    CsvTable table = CsvTable::read(path);
    for (const std::string& line : table.notes()) note(line);
    return table;
}

/// A line on standard error for each change that a condition names. Throws IoError for a condition
/// that nothing could have met: a build that checks nothing must not be green.
bool report_failures(const Comparison& comparison, const std::vector<FailCondition>& conditions,
                     bool strict) {
    bool failed = false;
    for (const FailCondition& condition : conditions) {
        bool has_numbers = false;
        for (const Change& change : comparison.changes) {
            if (comparison.metrics[change.metric].column != condition.metric.column) continue;
            has_numbers = true;
            if (!condition.fires(change, strict)) continue;
            failed = true;
            const std::string where = point_name(comparison, change.point);
            note(fmt::format("{}: {}{}{:.6g} became {:.6g}", condition.text, where,
                             where.empty() ? "" : ": ", change.before.median, change.after.median));
        }
        if (!has_numbers) {
            throw IoError(fmt::format("--fail-if '{}': no matching rows have a number for {}",
                                      condition.text, condition.metric.column));
        }
    }
    return failed;
}

int compare(const CompareOptions& options) {
    if (options.before.empty()) throw UsageError("compare takes two files, or one and --by");
    const bool along_column = !options.by.empty();
    if (along_column && !options.after.empty()) {
        throw UsageError("--by compares within one file");
    }
    if (along_column == options.baseline.empty()) {
        throw UsageError("--by and --baseline go together: --by mutation_pct --baseline 2");
    }
    if (!along_column && options.after.empty()) {
        throw UsageError("compare takes two files, or one and --by COLUMN --baseline VALUE");
    }
    std::vector<FailCondition> conditions;
    for (const std::string& text : options.fail_if)
        conditions.push_back(FailCondition::parse(text));
    for (const Export& each : exports) {
        if (!(options.*each.path).empty()) require_writable(options.*each.path);
    }

    Comparison comparison;
    comparison.along_column = along_column;
    comparison.metrics = metrics_of(options, conditions);
    const CsvTable before = table_from(options.before);
    std::optional<CsvTable> after;
    if (along_column) {
        comparison.before = options.by + ' ' + options.baseline;
        comparison.after = options.by;
        comparison.matching = match_along(before, options.by, options.baseline);
    } else {
        after.emplace(table_from(options.after));
        comparison.before = before.name();
        comparison.after = after->name();
        comparison.matching = match(before, *after);
    }
    comparison.changes = changes_of(comparison.matching, comparison.metrics);

    bool standard_output_is_taken = false;
    for (const Export& each : exports) {
        const std::string& path = options.*each.path;
        if (path.empty()) continue;
        standard_output_is_taken = standard_output_is_taken || path == "-";
        write_whole(path, each.form(comparison, report_context()));
    }
    if (!standard_output_is_taken) {
        Output output = Output::standard();
        output.print(comparison_text(comparison, output.width(), paint_for(output)));
    }
    return report_failures(comparison, conditions, options.strict) ? exit_code::regression
                                                                   : exit_code::done;
}

}  // namespace

Action declare_compare(CLI::App& app) {
    auto options = std::make_shared<CompareOptions>();
    app.add_option("BEFORE", options->before, "rows of the state before, or of all states")
        ->type_name("");
    app.add_option("AFTER", options->after, "rows of the state after")->type_name("");
    app.add_option("--by", options->by, "compare within one file, along this column")
        ->type_name("COLUMN");
    app.add_option("--baseline", options->baseline,
                   "the column's value that others are held against")
        ->type_name("VALUE");
    app.add_option("--metric", options->metrics,
                   "columns to compare; default throughput, abort and fallback rate, wasted "
                   "cycles, causes")
        ->type_name("LIST");
    app.add_option("--fail-if", options->fail_if,
                   "exit 4 if a change is beyond this, and significant where repeats allow to tell")
        ->type_name("CONDITION")
        ->allow_extra_args(false);
    app.add_flag("--strict", options->strict, "--fail-if also fires where it may be chance");
    for (const Export& each : exports) {
        app.add_option(each.option, (*options).*each.path, each.help)
            ->type_name("FILE")
            ->group("Output");
    }
    return [options] { return compare(*options); };
}

}  // namespace abortscope::cli
