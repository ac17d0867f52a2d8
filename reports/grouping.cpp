// SPDX-License-Identifier: Apache-2.0
#include "reports/grouping.hpp"

#include <algorithm>

namespace abortscope {
namespace {

/// The place of `value` in `known`, where it is put if it is new.
template <class T>
std::size_t place_of(const T& value, std::vector<T>& known) {
    const auto found = std::find(known.begin(), known.end(), value);
    if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
    known.push_back(value);
    return known.size() - 1;
}

bool names_level(const Column& column) {
    if (column.group == ColumnGroup::parameters) return true;
    if (column.group != ColumnGroup::identity) return false;
    for (const std::string_view other : {"schema_version", "phase", "policy", "seed", "repeat"}) {
        if (column.name == other) return false;
    }
    return true;
}

}  // namespace

Grouping::Grouping(std::span<const Measurement> rows, std::span<const Column> columns) {
    if (rows.empty()) return;
    for (const Column& column : columns) {
        if (!names_level(column)) continue;
        const Cell first = column.of(rows.front());
        const bool same = std::all_of(rows.begin(), rows.end(), [&](const Measurement& row) {
            return column.of(row) == first;
        });
        if (!same) {
            varying_.push_back(column);
        } else if (!std::holds_alternative<std::monostate>(first)) {
            constant_.push_back(column);
        }
    }
    for (const Measurement& row : rows) {
        std::vector<std::string> level;
        for (const Column& column : varying_) level.push_back(to_text(column.of(row)));
        place_of(row.phase, phases_);
        place_of(row.policy, policies_);
        samples_[{place_of(level, levels_), row.phase, row.policy}].push_back(&row);
    }
}

const std::string& Grouping::baseline() const {
    const auto none = std::find(policies_.begin(), policies_.end(), "none");
    return none != policies_.end() ? *none : policies_.at(0);
}

const Sample& Grouping::sample(std::size_t level, std::string_view phase,
                               std::string_view policy) const {
    static const Sample nothing;
    const auto found = samples_.find({level, std::string(phase), std::string(policy)});
    return found != samples_.end() ? found->second : nothing;
}

std::size_t Grouping::repeats() const {
    std::size_t most = 0;
    for (const auto& [point, sample] : samples_) most = std::max(most, sample.size());
    return most;
}

}  // namespace abortscope
