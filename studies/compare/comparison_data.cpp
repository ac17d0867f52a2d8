// SPDX-License-Identifier: Apache-2.0
//
// A comparison for programs: CSV, JSON, and the JSON's page.
#include <fmt/format.h>

#include <array>

#include "profiler/columns.hpp"
#include "reports/context_json.hpp"
#include "reports/csv.hpp"
#include "reports/html/page.hpp"
#include "studies/compare/comparison.hpp"

namespace abortscope {
namespace {

std::string number(double value) {
    return to_text(Cell{value});
}

std::string number(const std::optional<double>& value) {
    return value ? number(*value) : "";
}

Json json_of(const Interval& interval) {
    return {interval.low, interval.high};
}

Json json_of(const Estimate& estimate) {
    return {{"median", estimate.median},
            {"interval", json_of(estimate.interval)},
            {"repeats", estimate.repeats}};
}

Json json_of(const Comparison& comparison, const Change& change) {
    Json key = Json::object();
    const Point& point = comparison.matching.points[change.point];
    for (std::size_t i = 0; i < point.key.size(); ++i) {
        key[comparison.matching.key[i]] = point.key[i];
    }
    Json object;
    object["metric"] = comparison.metrics[change.metric].column;
    object["key"] = std::move(key);
    object["before"] = json_of(change.before);
    object["after"] = json_of(change.after);
    object["delta"] = change.delta;
    object["delta_interval"] = json_of(change.delta_interval);
    object["ratio"] = change.ratio ? Json(*change.ratio) : Json(nullptr);
    object["ratio_interval"] =
        change.ratio_interval ? json_of(*change.ratio_interval) : Json(nullptr);
    object["p"] = change.p;
    object["verdict"] = name_of(change.verdict);
    return object;
}

}  // namespace

std::string comparison_csv(const Comparison& comparison) {
    std::string text = "metric";
    for (const std::string& name : comparison.matching.key) text += ',' + csv_field(name);
    text +=
        ",before,before_low,before_high,before_repeats,after,after_low,after_high,after_repeats,"
        "delta,delta_low,delta_high,ratio,ratio_low,ratio_high,p,verdict\n";
    for (const Change& change : comparison.changes) {
        text += comparison.metrics[change.metric].column;
        for (const std::string& value : comparison.matching.points[change.point].key) {
            text += ',' + csv_field(value);
        }
        for (const Estimate* side : {&change.before, &change.after}) {
            text += fmt::format(",{},{},{},{}", number(side->median), number(side->interval.low),
                                number(side->interval.high), side->repeats);
        }
        std::optional<double> low;
        std::optional<double> high;
        if (change.ratio_interval) {
            low = change.ratio_interval->low;
            high = change.ratio_interval->high;
        }
        text += fmt::format(",{},{},{},{},{},{},{},{}\n", number(change.delta),
                            number(change.delta_interval.low), number(change.delta_interval.high),
                            number(change.ratio), number(low), number(high), number(change.p),
                            name_of(change.verdict));
    }
    return text;
}

std::string comparison_json(const Comparison& comparison, const ReportContext& context) {
    Json report = context_json(context);
    report["before"] = comparison.before;
    report["after"] = comparison.after;
    report["by"] = comparison.along_column ? Json(comparison.matching.key.back()) : Json(nullptr);
    report["metrics"] = Json::array();
    for (const Metric& metric : comparison.metrics) {
        constexpr const char* better[] = {"higher", "lower", "neither"};
        report["metrics"].push_back({{"name", metric.column},
                                     {"unit", metric.unit},
                                     {"is_rate", metric.is_rate},
                                     {"better", better[static_cast<std::size_t>(metric.better)]}});
    }
    report["key"] = comparison.matching.key;
    report["changes"] = Json::array();
    for (const Change& change : comparison.changes) {
        report["changes"].push_back(json_of(comparison, change));
    }
    report["only_before"] = comparison.matching.only_before;
    report["only_after"] = comparison.matching.only_after;
    return text_of(report);
}

std::string comparison_html(const Comparison& comparison, const ReportContext& context) {
    static constexpr std::array<std::string_view, 1> scripts{"comparison.js"};
    return html_page({"comparison.html", scripts},
                     fmt::format("{} against {}", comparison.after, comparison.before),
                     comparison_json(comparison, context));
}

}  // namespace abortscope
