// SPDX-License-Identifier: Apache-2.0
#include "reports/comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reports/level_cells.hpp"
#include "reports/statistics.hpp"

namespace abortscope {
namespace {

std::optional<double> median_operations(const Sample& sample) {
    std::vector<double> values;
    for (const Measurement* row : sample) values.push_back(static_cast<double>(row->operations()));
    return median(std::move(values));
}

bool runs_for_a_time(const Sample& sample) {
    return std::any_of(sample.begin(), sample.end(), [](const Measurement* row) {
        return std::any_of(
            row->parameters.begin(), row->parameters.end(),
            [](const ParameterValue& value) { return value.name == duration_parameter_name; });
    });
}

/// Whether the policies did the same work at every point, so that times tell all. A phase that
/// depends on the one before it (destroying what a search has left) may differ a little.
bool times_compare(const Grouping& grouping) {
    constexpr double same_work = 1.05;
    for (std::size_t level = 0; level < grouping.levels().size(); ++level) {
        for (const std::string& phase : grouping.phases()) {
            double least = std::numeric_limits<double>::max();
            double most = 0;
            for (const std::string& policy : grouping.policies()) {
                const Sample& sample = grouping.sample(level, phase, policy);
                if (runs_for_a_time(sample)) return false;
                const auto operations = median_operations(sample);
                if (!operations) continue;
                least = std::min(least, *operations);
                most = std::max(most, *operations);
            }
            if (most > least * same_work) return false;
        }
    }
    return true;
}

}  // namespace

ComparisonTable::ComparisonTable(const Grouping& grouping)
    : grouping_(grouping), as_times_(times_compare(grouping)), scale_(choose_scale()) {}

std::vector<std::string> ComparisonTable::others() const {
    std::vector<std::string> others;
    for (const std::string& policy : grouping_.policies()) {
        if (policy != grouping_.baseline()) others.push_back(policy);
    }
    return others;
}

std::string ComparisonTable::text(unsigned width, const Paint& paint) const {
    const std::vector<std::string> all = others();
    std::span<const std::string> left(all);
    std::string text;
    do {  // as many policies side by side as fit, and at least one
        std::size_t count = left.size();
        while (count > 1 && table(left.first(count)).width() > width) --count;
        if (!text.empty()) text += '\n';
        text += table(left.first(count)).text(paint);
        left = left.subspan(count);
    } while (!left.empty());
    return text;
}

std::optional<double> ComparisonTable::value(std::size_t level, std::string_view phase,
                                             std::string_view policy) const {
    std::vector<double> values;
    for (const Measurement* row : grouping_.sample(level, phase, policy)) {
        if (row->time_source == Provenance::absent) continue;
        if (as_times_) {
            values.push_back(static_cast<double>(row->duration_ns));
        } else if (const auto rate = row->operations_per_s()) {
            values.push_back(*rate);
        }
    }
    return median(std::move(values));
}

Scale ComparisonTable::choose_scale() const {
    double smallest = std::numeric_limits<double>::max();
    double largest = 0;
    for (std::size_t level = 0; level < grouping_.levels().size(); ++level) {
        for (const std::string& phase : grouping_.phases()) {
            for (const std::string& policy : grouping_.policies()) {
                const std::optional<double> each = value(level, phase, policy);
                if (!each || *each == 0) continue;
                smallest = std::min(smallest, *each);
                largest = std::max(largest, *each);
            }
        }
    }
    return as_times_ ? duration_scale(smallest, largest) : rate_scale(smallest, largest);
}

std::string ComparisonTable::shown(std::optional<double> number) const {
    return number ? scaled(*number, scale_) : std::string(no_number);
}

std::string ComparisonTable::ratio(std::optional<double> base, std::optional<double> other) const {
    if (!base || !other || *base == 0 || *other == 0) return std::string(no_number);
    return fmt::format("{:.2f}", as_times_ ? *base / *other : *other / *base);
}

TextTable ComparisonTable::table(std::span<const std::string> policies) const {
    const std::string unit(scale_.unit);
    std::vector<TextTable::Heading> headings = level_headings(grouping_);
    headings.push_back({"phase", "", TextTable::Align::left});
    // Bare transactions know no policy.
    const std::string& baseline = grouping_.baseline();
    headings.push_back({baseline.empty() ? (as_times_ ? "time" : "rate") : baseline, unit});
    for (const std::string& policy : policies) {
        headings.push_back({policy, unit});
        headings.push_back({"ratio", ""});
    }
    TextTable table(std::move(headings));
    for (std::size_t level = 0; level < grouping_.levels().size(); ++level) {
        bool first = true;
        for (const std::string& phase : grouping_.phases()) {
            const std::optional<double> base = value(level, phase, grouping_.baseline());
            bool present = base.has_value();
            std::vector<std::string> cells = level_cells(grouping_, level, first);
            cells.push_back(phase);
            cells.push_back(shown(base));
            for (const std::string& policy : policies) {
                const std::optional<double> other = value(level, phase, policy);
                present = present || other.has_value();
                cells.push_back(shown(other));
                cells.push_back(ratio(base, other));
            }
            if (!present) continue;
            table.add(std::move(cells));
            first = false;
        }
    }
    return table;
}

}  // namespace abortscope
