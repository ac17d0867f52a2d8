// SPDX-License-Identifier: Apache-2.0
//
// A comparison as tables, for the terminal and for Markdown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "profiler/columns.hpp"
#include "reports/level_cells.hpp"
#include "reports/numbers.hpp"
#include "studies/compare/comparison.hpp"

namespace abortscope {
namespace {

using Align = TextTable::Align;

/// The column of that name; a parameter's is made up from its name.
Column column_named(const std::string& name) {
    const std::size_t place = index_of(fixed_columns(), name);
    if (place != fixed_columns().size()) return fixed_columns()[place];
    return {name,   unit_of_parameter(name), ColumnKind::integer, ColumnGroup::parameters, "",
            nullptr};
}

/// How a metric's numbers are shown: values in a unit that makes them short, changes in percent,
/// those of rates in percentage points.
struct Notation {
    bool is_rate;
    Scale scale;

    std::string value(double number) const {
        return is_rate ? percent(number) : scaled(number, scale);
    }
    std::string change(const Change& change) const {
        if (is_rate) return signed_text(change.delta * 100);
        return change.ratio ? signed_text((*change.ratio - 1) * 100) : std::string(no_number);
    }
    std::string interval(const Change& change) const {
        if (is_rate) {
            return signed_text(change.delta_interval.low * 100) + ".." +
                   signed_text(change.delta_interval.high * 100);
        }
        if (!change.ratio_interval) return std::string(no_number);
        return signed_text((change.ratio_interval->low - 1) * 100) + ".." +
               signed_text((change.ratio_interval->high - 1) * 100);
    }

  private:
    static std::string signed_text(double number) {
        const std::string text = fmt::format("{:+.1f}", number);
        return text == "-0.0" || text == "+0.0" ? "0.0" : text;
    }
};

Notation notation_of(const Metric& metric, const std::vector<const Change*>& changes) {
    if (metric.is_rate) return {true, {"%", 100, 1}};
    double smallest = std::numeric_limits<double>::max();
    double largest = 0;
    for (const Change* change : changes) {
        for (const double number : {change->before.median, change->after.median}) {
            if (number == 0) continue;
            smallest = std::min(smallest, std::abs(number));
            largest = std::max(largest, std::abs(number));
        }
    }
    if (metric.unit == "ns") return {false, duration_scale(smallest, largest)};
    if (metric.unit == "1/s") return {false, rate_scale(smallest, largest)};
    return {false, count_scale(smallest, largest, metric.unit)};
}

/// Without those that say that nothing is still nothing.
std::vector<const Change*> telling_changes(const Comparison& comparison, std::size_t metric) {
    std::vector<const Change*> changes;
    for (const Change& change : comparison.changes) {
        const bool is_nothing = change.verdict == Verdict::same && change.before.median == 0;
        if (change.metric == metric && !is_nothing) changes.push_back(&change);
    }
    return changes;
}

std::string p_text(double p) {
    if (p < 0.001) return "<0.001";
    return fmt::format("{:.3f}", p);
}

ComparisonSection section_of(const Comparison& comparison, std::size_t metric_place,
                             const std::vector<const Change*>& changes, bool short_verdicts) {
    const Metric& metric = comparison.metrics[metric_place];
    const Notation notation = notation_of(metric, changes);
    const std::vector<std::size_t> key = comparison.matching.varying();
    std::vector<TextTable::Heading> headings;
    for (const std::size_t place : key) {
        const Column column = column_named(comparison.matching.key[place]);
        headings.push_back({std::string(name_without_unit(column)), std::string(column.unit),
                            column.kind == ColumnKind::text ? Align::left : Align::right});
    }
    headings.push_back({"before", notation.scale.unit});
    headings.push_back({"after", notation.scale.unit});
    const std::string change_unit = notation.is_rate ? "pp" : "%";
    headings.push_back({"change", change_unit});
    headings.push_back({"95 % interval", change_unit, Align::right, 3});
    headings.push_back({"ratio", "", Align::right, 2});
    headings.push_back({"p", "", Align::right, 1});
    headings.push_back({"verdict", "", Align::left});
    TextTable table(std::move(headings));
    for (const Change* change : changes) {
        std::vector<std::string> cells;
        for (const std::size_t place : key) {
            cells.push_back(comparison.matching.points[change->point].key[place]);
        }
        const bool is_tested = change->verdict != Verdict::too_few;
        cells.push_back(notation.value(change->before.median));
        cells.push_back(notation.value(change->after.median));
        cells.push_back(notation.change(*change));
        cells.push_back(is_tested ? notation.interval(*change) : std::string(no_number));
        cells.push_back(change->ratio ? fmt::format("{:.3f}", *change->ratio)
                                      : std::string(no_number));
        cells.push_back(is_tested ? p_text(change->p) : std::string(no_number));
        const bool is_short = short_verdicts && change->verdict == Verdict::not_significant;
        cells.emplace_back(is_short ? "n.s." : name_of(change->verdict));
        table.add(std::move(cells), change->verdict == Verdict::worse    ? Tone::bad
                                    : change->verdict == Verdict::better ? Tone::good
                                                                         : Tone::plain);
    }
    constexpr std::string_view directions[] = {", higher is better", ", lower is better", ""};
    return {metric.column + std::string(directions[static_cast<std::size_t>(metric.better)]),
            std::move(table)};
}

/// The key's values that differ between points, or all of them for a row that has no partner.
std::string name_of_key(const Matching& matching, const std::vector<std::string>& key,
                        const std::vector<std::size_t>& places) {
    std::vector<std::string> words;
    for (const std::size_t place : places) {
        if (key[place].empty()) continue;
        const std::string& name = matching.key[place];
        const bool speaks_for_itself = column_named(name).kind == ColumnKind::text;
        words.push_back(speaks_for_itself ? key[place] : name + ' ' + key[place]);
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string unmatched(const Matching& matching, const std::vector<std::vector<std::string>>& keys,
                      const std::string& side) {
    if (keys.empty()) return "";
    constexpr std::size_t most = 10;
    std::vector<std::size_t> all(matching.key.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::string text = fmt::format("\nOnly in {}:\n", side);
    for (std::size_t i = 0; i < std::min(most, keys.size()); ++i) {
        text += fmt::format("  {}\n", name_of_key(matching, keys[i], all));
    }
    if (keys.size() > most) text += fmt::format("  and {} more\n", keys.size() - most);
    return text;
}

std::size_t count_of(const Comparison& comparison, Verdict verdict) {
    return static_cast<std::size_t>(
        std::count_if(comparison.changes.begin(), comparison.changes.end(),
                      [&](const Change& change) { return change.verdict == verdict; }));
}

std::string unmatched_rows(const Comparison& comparison) {
    const std::string others =
        comparison.along_column ? "other values of " + comparison.after : comparison.after;
    return unmatched(comparison.matching, comparison.matching.only_before, comparison.before) +
           unmatched(comparison.matching, comparison.matching.only_after, others);
}

}  // namespace

std::vector<ComparisonSection> sections_of(const Comparison& comparison, bool short_verdicts) {
    std::vector<ComparisonSection> sections;
    for (std::size_t metric = 0; metric < comparison.metrics.size(); ++metric) {
        const std::vector<const Change*> changes = telling_changes(comparison, metric);
        if (!changes.empty())
            sections.push_back(section_of(comparison, metric, changes, short_verdicts));
    }
    return sections;
}

std::string summary_of(const Comparison& comparison) {
    std::string text = fmt::format(
        "{} points, {} comparisons: {} better, {} worse, {} not significant, {} the same",
        comparison.matching.points.size(), comparison.changes.size(),
        count_of(comparison, Verdict::better), count_of(comparison, Verdict::worse),
        count_of(comparison, Verdict::not_significant), count_of(comparison, Verdict::same));
    if (const std::size_t changed = count_of(comparison, Verdict::changed)) {
        text += fmt::format(", {} changed", changed);
    }
    if (const std::size_t few = count_of(comparison, Verdict::too_few)) {
        text += fmt::format(", {} with too few repeats to tell", few);
    }
    return text;
}

std::string comparison_text(const Comparison& comparison, unsigned width, const Paint& paint) {
    std::string text =
        comparison.along_column
            ? fmt::format("Along {}, against {}\n", comparison.after, comparison.before)
            : fmt::format("{} (before) against {} (after)\n", comparison.before, comparison.after);
    text += summary_of(comparison) + '\n';
    constexpr unsigned wide = 100;
    const bool short_verdicts = width < wide;
    if (short_verdicts) text += "n.s.: not significant\n";
    for (ComparisonSection& section : sections_of(comparison, short_verdicts)) {
        section.table.fit(width);
        text += fmt::format("\n{}:\n\n{}", section.caption, section.table.text(paint));
    }
    return text + unmatched_rows(comparison);
}

std::string comparison_markdown(const Comparison& comparison, const ReportContext& context) {
    std::string text = fmt::format("### abortscope: {} against {}\n\n{}\n", comparison.after,
                                   comparison.before, summary_of(comparison));
    for (const ComparisonSection& section : sections_of(comparison, false)) {
        text += fmt::format("\n**{}**\n\n{}", section.caption, section.table.markdown());
    }
    const std::string alone = unmatched_rows(comparison);
    if (!alone.empty()) text += fmt::format("\n```\n{}```\n", alone.substr(1));
    return text + fmt::format("\n```sh\n{}\n```\n", shell_command(context.command));
}

std::string point_name(const Comparison& comparison, std::size_t point) {
    return name_of_key(comparison.matching, comparison.matching.points[point].key,
                       comparison.matching.varying());
}

}  // namespace abortscope
