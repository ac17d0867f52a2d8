// SPDX-License-Identifier: Apache-2.0
#include "reports/stat_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/columns.hpp"
#include "profiler/counters/native_counters.hpp"
#include "reports/context_json.hpp"
#include "reports/csv.hpp"
#include "reports/html/page.hpp"
#include "reports/numbers.hpp"
#include "reports/text_table.hpp"

namespace abortscope {
namespace {

std::string command_line(const StatOptions& options) {
    return fmt::format("{}", fmt::join(options.command, " "));
}

/// Standard deviation of a counter over the runs that counted it, in percent of the mean.
std::optional<double> spread_pct(const std::vector<StatRun>& runs, std::size_t counter) {
    std::vector<double> values;
    for (const StatRun& run : runs) {
        const auto& value = run.readings[counter].value;
        if (value) values.push_back(static_cast<double>(*value));
    }
    if (values.size() < 2) return std::nullopt;
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    if (mean == 0) return std::nullopt;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return 100 * std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean;
}

/// What stands behind a number that is not simply counted.
std::string remark(const Reading& reading, std::optional<double> spread) {
    std::string text;
    if (reading.provenance == Provenance::scaled) {
        text = fmt::format("scaled: ran {:.1f} % of the time", reading.running_pct);
    }
    if (spread) text += fmt::format("{}+- {:.1f} %", text.empty() ? "" : ", ", *spread);
    return text;
}

std::string per_cpu_second(const Readings& means, std::size_t counter) {
    const auto& clock_ns = means[index_of(Counter::task_clock_ns)].value;
    if (!clock_ns || *clock_ns == 0 || counter_at(counter) == Counter::task_clock_ns) return {};
    return fmt::format("{:.3g}", 1e9 * static_cast<double>(*means[counter].value) /
                                     static_cast<double>(*clock_ns));
}

TextTable counter_table(const StatResult& result, const Readings& means) {
    using enum TextTable::Align;
    TextTable table({{"counter", "", left},
                     {"value", "", right},
                     {"per_cpu_s", "", right},
                     {"remark", "", left}});
    for (std::size_t i = 0; i < counter_count; ++i) {
        if (!means[i].value) continue;
        table.add({std::string(counter_names[i]), with_thousands(*means[i].value),
                   per_cpu_second(means, i), remark(means[i], spread_pct(result.runs, i))});
    }
    for (const DerivedNumber& number : derived_numbers(means)) {
        if (!number.value) continue;
        table.add({std::string(number.name), fmt::format("{:.4g}", *number.value), "",
                   std::string(number.help)});
    }
    if (const auto residue = outcome_residue(means)) {
        table.add({"tx_start - tx_commit - tx_abort", fmt::format("{}", *residue), "",
                   "0 but for transactions that the counters' start or stop cut"});
    }
    return table;
}

std::string absent_lines(const Readings& means, const CounterPlan& plan) {
    std::vector<std::pair<std::string, std::string>> reasons;
    for (std::size_t i = 0; i < counter_count; ++i) {
        const std::string& reason = means[i].absent_reason;
        if (means[i].value || reason == not_asked_for) continue;
        auto known = std::find_if(reasons.begin(), reasons.end(),
                                  [&](const auto& entry) { return entry.first == reason; });
        if (known == reasons.end()) known = reasons.insert(known, {reason, ""});
        known->second += fmt::format(" {}", counter_names[i]);
    }
    std::string text;
    for (const auto& [reason, counters] : reasons) {
        const std::string hint =
            reason == counted_in_another_pass
                ? fmt::format("; --repeat {} runs every pass", plan.passes.size())
                : "";
        text += fmt::format("absent:{}\n  {}{}\n", counters, reason, hint);
    }
    return text;
}

Json json_of(const Readings& readings) {
    Json counters;
    for (std::size_t i = 0; i < counter_count; ++i) {
        const Reading& reading = readings[i];
        if (reading.absent_reason == not_asked_for) continue;
        Json& json = counters[std::string(counter_names[i])];
        json["value"] = reading.value ? Json(*reading.value) : Json();
        json["source"] = name_of(reading.provenance);
        json["running_pct"] = reading.value ? Json(reading.running_pct) : Json();
        json["absent_reason"] = reading.absent_reason;
    }
    return counters;
}

Json derived_json(const Readings& readings) {
    Json json;
    for (const DerivedNumber& number : derived_numbers(readings)) {
        json[std::string(number.name)] = number.value ? Json(*number.value) : Json();
    }
    const auto residue = outcome_residue(readings);
    json["outcome_residue"] = residue ? Json(*residue) : Json();
    return json;
}

std::string runs_text(const StatResult& result) {
    return fmt::format("{} {}", result.runs.size(),
                       result.runs.size() == 1 ? "run" : "runs, means of them");
}

std::string ending_text(const StatResult& result) {
    double elapsed_s = 0;
    for (const StatRun& run : result.runs) {
        elapsed_s +=
            1e-9 * static_cast<double>(run.elapsed_ns) / static_cast<double>(result.runs.size());
    }
    const int signal = result.runs.empty() ? 0 : result.runs.back().end.signal;
    const std::string ending =
        signal == 0 ? "" : fmt::format(", ended by signal {} ({})", signal, strsignal(signal));
    return fmt::format("{:.6f} s elapsed{}", elapsed_s, ending);
}

}  // namespace

std::string stat_text(const StatOptions& options, const StatResult& result, const CounterPlan& plan,
                      const Paint& paint) {
    const Readings means = mean_of(result.runs);
    return fmt::format("\n{} ({})\n\n{}\n{}\n{}", command_line(options), runs_text(result),
                       counter_table(result, means).text(paint), ending_text(result),
                       absent_lines(means, plan));
}

std::string stat_markdown(const StatOptions& options, const StatResult& result,
                          const CounterPlan& plan, const ReportContext& context) {
    const Readings means = mean_of(result.runs);
    const std::string absent = absent_lines(means, plan);
    return fmt::format("### abortscope stat: `{}` ({})\n\n{}\n{}\n{}\n```sh\n{}\n```\n",
                       command_line(options), runs_text(result),
                       counter_table(result, means).markdown(), ending_text(result),
                       absent.empty() ? "" : fmt::format("\n```\n{}```\n", absent),
                       shell_command(context.command));
}

std::string stat_interval_text(const StatInterval& interval) {
    std::string line = fmt::format("{:10.3f} s", 1e-9 * static_cast<double>(interval.end_ns));
    for (std::size_t i = 0; i < counter_count; ++i) {
        const auto& value = interval.readings[i].value;
        if (value) line += fmt::format("  {} {}", counter_names[i], with_thousands(*value));
    }
    return line + '\n';
}

std::string stat_csv_header() {
    return "run,kind,time_ns,counter,value,source,running_pct,absent_reason\n";
}

std::string stat_csv(std::size_t run, std::string_view kind, std::uint64_t time_ns,
                     const Readings& readings) {
    std::string text;
    for (std::size_t i = 0; i < counter_count; ++i) {
        const Reading& reading = readings[i];
        if (reading.absent_reason == not_asked_for) continue;
        text += fmt::format("{},{},{},{},", run, kind, time_ns, counter_names[i]);
        if (reading.value) {
            text += fmt::format("{},{},{:.9g},\n", *reading.value, name_of(reading.provenance),
                                reading.running_pct);
        } else {
            text += fmt::format(",{},,{}\n", name_of(reading.provenance),
                                csv_field(reading.absent_reason));
        }
    }
    for (const DerivedNumber& number : derived_numbers(readings)) {
        if (!number.value) continue;
        text += fmt::format("{},{},{},{},{:.9g},derived,,\n", run, kind, time_ns, number.name,
                            *number.value);
    }
    return text;
}

std::string stat_csv_totals(const StatResult& result) {
    std::string text;
    for (std::size_t run = 0; run < result.runs.size(); ++run) {
        text += stat_csv(run, "total", result.runs[run].elapsed_ns, result.runs[run].readings);
    }
    return text;
}

std::string stat_json(const StatOptions& options, const StatResult& result, const CounterPlan& plan,
                      const ReportContext& context) {
    Json json;
    json["schema_version"] = schema_version;
    json.update(context_json(context));
    json["program"] = options.command;
    json["plan"] = plan.describe();
    json["runs"] = Json::array();
    for (const StatRun& run : result.runs) {
        Json one;
        one["elapsed_ns"] = run.elapsed_ns;
        one["status"] = run.end.shell_status();
        one["signal"] = run.end.signal != 0 ? Json(run.end.signal) : Json();
        one["counters"] = json_of(run.readings);
        one["derived"] = derived_json(run.readings);
        one["intervals"] = Json::array();
        for (const StatInterval& interval : run.intervals) {
            one["intervals"].push_back(
                {{"end_ns", interval.end_ns}, {"counters", json_of(interval.readings)}});
        }
        json["runs"].push_back(std::move(one));
    }
    const Readings means = mean_of(result.runs);
    json["mean"] = {{"counters", json_of(means)}, {"derived", derived_json(means)}};
    json["help"] = Json::object();
    for (const DerivedNumber& number : derived_numbers(means)) {
        json["help"][std::string(number.name)] = number.help;
    }
    return text_of(json);
}

std::string stat_html(const StatOptions& options, const StatResult& result, const CounterPlan& plan,
                      const ReportContext& context) {
    static constexpr std::array<std::string_view, 1> scripts{"stat.js"};
    return html_page({"stat.html", scripts}, command_line(options),
                     stat_json(options, result, plan, context));
}

}  // namespace abortscope
