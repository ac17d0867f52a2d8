// SPDX-License-Identifier: Apache-2.0
#include "studies/reproduce/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "reports/context_json.hpp"
#include "reports/html/page.hpp"
#include "reports/text_table.hpp"
#include "reports/wrapped.hpp"

namespace abortscope::reproduce {
namespace {

using Align = TextTable::Align;

/// Three digits, or all that stand before the point.
std::string short_number(double value) {
    return value >= 100 || value == 0 ? fmt::format("{:.0f}", value)
                                      : fmt::format("{:#.3g}", value);
}

std::string ratio_text(double ratio) {
    return ratio >= 100 ? fmt::format("{:.0f}", ratio) : fmt::format("{:.2f}", ratio);
}

/// Of the mean, in percent.
std::string spread_text(double sd, double mean) {
    const double share = mean != 0 ? 100 * sd / mean : 0;
    return share >= 10 ? fmt::format("{:.0f}", share) : fmt::format("{:.1f}", share);
}

/// The numbers of one side: published or measured.
struct Side {
    std::optional<double> reference;
    std::optional<double> reference_sd;
    std::optional<double> value;
    std::optional<double> value_sd;
    std::optional<double> ratio;
    bool in_doubt = false;  ///< whether the difference may be chance
};

std::optional<double> ratio_of(const Table& table, const Side& side) {
    if (!side.reference || !side.value) return std::nullopt;
    return table.lower_is_better ? *side.reference / *side.value : *side.value / *side.reference;
}

Side published_side(const Publication& publication, const Table& table, const TableRow& row) {
    const Figure* reference = publication.find(row.reference);
    const Figure* value = publication.find(row.value);
    Side side{
        reference->published, reference->published_sd, value->published, value->published_sd, {}};
    side.ratio = row.published_ratio ? row.published_ratio : ratio_of(table, side);
    // All that the thread gave are means and standard deviations.
    side.in_doubt =
        side.reference_sd && side.value_sd &&
        std::abs(*side.value - *side.reference) <= 2 * std::max(*side.reference_sd, *side.value_sd);
    return side;
}

Side measured_side(const Table& table, const TableRow& row, const Measured& measured) {
    Side side{
        measured.mean(row.reference), std::nullopt, measured.mean(row.value), std::nullopt, {}};
    if (measured.samples(row.value).size() > 1) {
        side.reference_sd = measured.sd(row.reference);
        side.value_sd = measured.sd(row.value);
    }
    side.ratio = ratio_of(table, side);
    side.in_doubt =
        measured.testable(row.value, row.reference) && !measured.differ(row.value, row.reference);
    return side;
}

void add_headings(std::vector<TextTable::Heading>& headings, const Table& table,
                  std::string_view side, bool shows_spread, bool whole_headings) {
    std::string name(side);
    const auto add = [&](const std::string& what) {
        headings.push_back({name, what});
        if (!whole_headings) name.clear();
    };
    if (!table.reference.empty()) {
        add(table.reference);
        if (shows_spread) add("sd%");
    }
    add(table.value);
    if (shows_spread) add("sd%");
    add("ratio");
}

void add_cells(std::vector<std::string>& cells, const Table& table, const Side& side,
               bool shows_spread) {
    const auto add = [&](std::optional<double> value, std::optional<double> sd) {
        cells.push_back(value ? short_number(*value) : "");
        if (shows_spread) cells.push_back(value && sd ? spread_text(*sd, *value) : "");
    };
    if (!table.reference.empty()) add(side.reference, side.reference_sd);
    add(side.value, side.value_sd);
    const bool marks = table.shows_spread && !table.reference.empty() && side.in_doubt;
    cells.push_back(side.ratio ? fmt::format("{}{}", marks ? "~" : "", ratio_text(*side.ratio))
                               : "");
}

struct Grid {
    std::vector<TextTable::Heading> headings;
    std::vector<std::vector<std::string>> rows;
};

Grid grid_of(const Publication& publication, const Table& table, const Measured& measured,
             bool whole_headings) {
    std::vector<Side> published;
    for (const TableRow& row : table.rows) {
        published.push_back(published_side(publication, table, row));
    }
    const bool published_spread =
        std::any_of(published.begin(), published.end(),
                    [](const Side& side) { return side.value_sd.has_value(); });
    std::vector<TextTable::Heading> headings;
    for (const std::string& label : table.labels) headings.push_back({label, "", Align::left});
    add_headings(headings, table, "published", published_spread, whole_headings);
    add_headings(headings, table, "measured", table.shows_spread, whole_headings);
    Grid grid{std::move(headings), {}};
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        std::vector<std::string> cells = table.rows[i].labels;
        add_cells(cells, table, published[i], published_spread);
        add_cells(cells, table, measured_side(table, table.rows[i], measured), table.shows_spread);
        grid.rows.push_back(std::move(cells));
    }
    return grid;
}

TextTable text_table(const Publication& publication, const Table& table, const Measured& measured,
                     bool for_markdown) {
    Grid grid = grid_of(publication, table, measured, for_markdown);
    TextTable text(std::move(grid.headings));
    for (std::vector<std::string>& row : grid.rows) text.add(std::move(row));
    return text;
}

bool marks_doubt(const Publication& publication) {
    return std::any_of(
        publication.tables.begin(), publication.tables.end(),
        [](const Table& table) { return table.shows_spread && !table.reference.empty(); });
}

constexpr std::string_view doubt_legend =
    "~: not significant (published: within two standard deviations; measured: Mann-Whitney, "
    "p > 0.05). sd%: standard deviation in % of the mean.";

/// Words of a text, in lines that begin with `indent` blanks and are no longer than `width`.
std::string paragraph(std::string_view text, std::size_t indent, std::size_t width) {
    return std::string(indent, ' ') + wrapped(text, indent, width) + '\n';
}

std::string repeats_text(const Publication& publication, const Measured& measured) {
    const std::size_t repeats = measured.samples(publication.figures.front().name).size();
    return repeats == 1 ? "one run each" : fmt::format("{} repeats, means", repeats);
}

std::string agreement_legend() {
    return fmt::format("Figures in a claim agree within a factor of {}.", agreement);
}

}  // namespace

std::string reproduction_text(const Publication& publication, const Measured& measured,
                              std::size_t width) {
    std::string text =
        paragraph(fmt::format("{}: {}", publication.name, publication.title), 0, width);
    text += paragraph(fmt::format("published: {}", publication.source), 2, width);
    text += paragraph(
        fmt::format("measured: {}; {}", publication.setting, repeats_text(publication, measured)),
        2, width);
    for (const Table& table : publication.tables) {
        text += '\n' + paragraph(table.title + (table.lower_is_better ? " (lower is better)" : ""),
                                 0, width);
        text += '\n' + text_table(publication, table, measured, false).text();
        if (!table.note.empty()) text += paragraph(table.note, 0, width);
    }
    if (marks_doubt(publication)) text += '\n' + paragraph(doubt_legend, 0, width);
    text += "\nShapes:\n";
    for (const Shape& shape : publication.shapes) {
        const Judgement judgement = shape.judge(measured);
        text += paragraph(fmt::format("{} {}: {}", shape.id,
                                      judgement.holds ? "holds" : "DOES NOT HOLD", shape.claim),
                          2, width);
        text += paragraph("measured: " + judgement.evidence, 6, width);
        if (!judgement.holds)
            text += paragraph(fmt::format("missing: {}", shape.missing), 6, width);
    }
    return text + paragraph(agreement_legend(), 0, width);
}

std::string reproduction_markdown(const Publication& publication, const Measured& measured) {
    std::string text = fmt::format("## {}: {}\n\nPublished: {}. Measured: {}; {}.\n",
                                   publication.name, publication.title, publication.source,
                                   publication.setting, repeats_text(publication, measured));
    TextTable shapes({{"shape", "", Align::left},
                      {"claim", "", Align::left},
                      {"verdict", "", Align::left},
                      {"measured", "", Align::left},
                      {"what is missing", "", Align::left}});
    for (const Shape& shape : publication.shapes) {
        const Judgement judgement = shape.judge(measured);
        shapes.add({std::string(shape.id), std::string(shape.claim),
                    judgement.holds ? "holds" : "**does not hold**", judgement.evidence,
                    judgement.holds ? "" : std::string(shape.missing)});
    }
    text += '\n' + shapes.markdown() + '\n' + agreement_legend() + '\n';
    for (const Table& table : publication.tables) {
        text += fmt::format("\n### {}{}\n\n{}", table.title,
                            table.lower_is_better ? " (lower is better)" : "",
                            text_table(publication, table, measured, true).markdown());
        if (!table.note.empty()) text += '\n' + table.note + '\n';
    }
    if (marks_doubt(publication)) text += fmt::format("\n{}\n", doubt_legend);
    return text;
}

namespace {

Json json_of(const std::optional<double>& number) {
    return number ? Json(*number) : Json();
}

Json json_of(const Publication& publication, const Table& table, const Measured& measured) {
    const Grid grid = grid_of(publication, table, measured, true);
    Json headings = Json::array();
    for (const TextTable::Heading& heading : grid.headings) {
        headings.push_back({{"name", heading.name},
                            {"unit", heading.unit},
                            {"is_number", heading.align == Align::right}});
    }
    Json ratios = Json::array();
    for (const TableRow& row : table.rows) {
        ratios.push_back({{"labels", row.labels},
                          {"published", json_of(published_side(publication, table, row).ratio)},
                          {"measured", json_of(measured_side(table, row, measured).ratio)}});
    }
    return {{"title", table.title + (table.lower_is_better ? " (lower is better)" : "")},
            {"note", table.note},
            {"headings", std::move(headings)},
            {"rows", grid.rows},
            {"ratios", std::move(ratios)}};
}

Json json_of(const Publication& publication, const Measured& measured) {
    Json shapes = Json::array();
    for (const Shape& shape : publication.shapes) {
        const Judgement judgement = shape.judge(measured);
        shapes.push_back({{"id", shape.id},
                          {"claim", shape.claim},
                          {"holds", judgement.holds},
                          {"measured", judgement.evidence},
                          {"missing", judgement.holds ? "" : shape.missing}});
    }
    Json tables = Json::array();
    for (const Table& table : publication.tables) {
        tables.push_back(json_of(publication, table, measured));
    }
    return {{"name", publication.name},
            {"title", publication.title},
            {"source", publication.source},
            {"setting", publication.setting + "; " + repeats_text(publication, measured)},
            {"shapes", std::move(shapes)},
            {"tables", std::move(tables)},
            {"legend", marks_doubt(publication) ? doubt_legend : std::string_view()}};
}

}  // namespace

std::string reproduction_html(std::span<const Reproduction> reproductions,
                              const ReportContext& context) {
    Json page = context_json(context);
    page["agreement"] = agreement_legend();
    page["threads"] = Json::array();
    for (const Reproduction& each : reproductions) {
        page["threads"].push_back(json_of(*each.publication, each.measured));
    }
    const std::string title = reproductions.size() == 1
                                  ? std::string(reproductions.front().publication->title)
                                  : "Published experiments, run again";
    static constexpr std::array<std::string_view, 1> scripts{"reproduction.js"};
    return html_page({"reproduction.html", scripts}, title, text_of(page));
}

}  // namespace abortscope::reproduce
