// SPDX-License-Identifier: Apache-2.0
//
// A comparison: what was held against what, and what came of it; and its forms.
#pragma once

#include <string>
#include <vector>

#include "reports/context.hpp"
#include "reports/text_table.hpp"
#include "studies/compare/change.hpp"
#include "studies/compare/metric.hpp"
#include "studies/compare/points.hpp"

namespace abortscope {

struct Comparison {
    std::string before;  ///< a file's name, or "mutation_pct 2"
    std::string after;   ///< a file's name, or "mutation_pct"
    bool along_column = false;
    std::vector<Metric> metrics;
    Matching matching;
    std::vector<Change> changes;
};

/// One metric's changes: a table, and above it what it is about.
struct ComparisonSection {
    std::string caption;
    TextTable table;
};

/// A section for each metric that is not 0 everywhere. What was 0 and is 0 has no line.
/// `short_verdicts` says "n.s." for "not significant".
std::vector<ComparisonSection> sections_of(const Comparison& comparison, bool short_verdicts);

/// How many points changed for the better and for the worse, and rows that only one side has.
std::string summary_of(const Comparison& comparison);

std::string comparison_text(const Comparison& comparison, unsigned width, const Paint& paint = {});
std::string comparison_markdown(const Comparison& comparison, const ReportContext& context);
std::string comparison_csv(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison, const ReportContext& context);
std::string comparison_html(const Comparison& comparison, const ReportContext& context);

/// "search, ovs2016, mutation 10 %": what tells a point from the others.
std::string point_name(const Comparison& comparison, std::size_t point);

}  // namespace abortscope
