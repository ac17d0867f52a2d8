// SPDX-License-Identifier: Apache-2.0
#include "studies/compare/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"

namespace abortscope {
namespace {

using Key = std::vector<std::string>;

constexpr std::array<std::string_view, 7> identity{"scenario", "phase",   "machine", "lock",
                                                   "policy",   "threads", "cpus"};

std::set<std::string> values_of(const CsvTable& table, std::string_view column) {
    std::set<std::string> values;
    for (std::size_t row = 0; row < table.rows(); ++row) values.insert(table.text(row, column));
    return values;
}

Key key_of(const CsvTable& table, std::size_t row, const Key& columns) {
    Key key;
    for (const std::string& column : columns) key.push_back(table.text(row, column));
    return key;
}

/// Samples by key, and the keys in the order of their first rows.
struct Samples {
    std::vector<Key> order;
    std::map<Key, PointRows> by_key;
};

Samples samples_of(const CsvTable& table, const Key& columns) {
    Samples samples;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        Key key = key_of(table, row, columns);
        const auto [place, is_new] = samples.by_key.try_emplace(key, PointRows{&table, {}});
        place->second.rows.push_back(row);
        if (is_new) samples.order.push_back(std::move(key));
    }
    return samples;
}

/// Parameters that both have, and those of one that tell its rows apart.
Key shared_parameters(const CsvTable& before, const CsvTable& after) {
    Key parameters;
    const auto add = [&](const CsvTable& table, const CsvTable& other) {
        for (const std::string& name : table.parameters()) {
            const bool known =
                std::find(parameters.begin(), parameters.end(), name) != parameters.end();
            if (!known && (other.has(name) || values_of(table, name).size() > 1)) {
                parameters.push_back(name);
            }
        }
    };
    add(before, after);
    add(after, before);
    return parameters;
}

}  // namespace

std::vector<double> PointRows::numbers(std::string_view column) const {
    std::vector<double> numbers;
    for (const std::size_t row : rows) {
        if (const auto number = table->number(row, column)) numbers.push_back(*number);
    }
    return numbers;
}

std::vector<std::size_t> Matching::varying() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const bool same = std::all_of(points.begin(), points.end(), [&](const Point& point) {
            return point.key[i] == points.front().key[i];
        });
        if (!same) places.push_back(i);
    }
    return places;
}

Matching match(const CsvTable& before, const CsvTable& after) {
    Matching matching;
    matching.key.assign(identity.begin(), identity.end());
    for (std::string& name : shared_parameters(before, after)) {
        matching.key.push_back(std::move(name));
    }
    const Samples old_samples = samples_of(before, matching.key);
    Samples new_samples = samples_of(after, matching.key);
    for (const Key& key : old_samples.order) {
        const auto found = new_samples.by_key.find(key);
        if (found == new_samples.by_key.end()) {
            matching.only_before.push_back(key);
        } else {
            matching.points.push_back({key, old_samples.by_key.at(key), found->second});
        }
    }
    for (const Key& key : new_samples.order) {
        if (!old_samples.by_key.contains(key)) matching.only_after.push_back(key);
    }
    if (matching.points.empty()) {
        throw IoError(fmt::format("no row of {} matches one of {}", before.name(), after.name()));
    }
    return matching;
}

Matching match_along(const CsvTable& table, std::string_view column, std::string_view baseline) {
    Key columns(identity.begin(), identity.end());
    columns.insert(columns.end(), table.parameters().begin(), table.parameters().end());
    const auto place = std::find(columns.begin(), columns.end(), column);
    if (place == columns.end()) {
        const std::vector<std::string_view> names(columns.begin(), columns.end());
        throw UsageError(unknown_name("column to compare by", column, names));
    }
    const std::set<std::string> values = values_of(table, column);
    if (!values.contains(std::string(baseline))) {
        throw UsageError(fmt::format("no row has {} {}; there are: {}", column, in_quotes(baseline),
                                     fmt::join(values, ", ")));
    }
    if (values.size() == 1) {
        throw UsageError(fmt::format("all rows have {} {}: there is nothing to compare", column,
                                     in_quotes(baseline)));
    }
    columns.erase(place);

    Matching matching;
    matching.key = columns;
    matching.key.emplace_back(column);
    const Samples samples = samples_of(table, matching.key);
    for (const Key& key : samples.order) {
        if (key.back() == baseline) {
            const bool alone =
                std::none_of(samples.order.begin(), samples.order.end(), [&](const Key& other) {
                    return other.back() != baseline &&
                           std::equal(key.begin(), key.end() - 1, other.begin());
                });
            if (alone) matching.only_before.push_back(key);
            continue;
        }
        Key base = key;
        base.back() = baseline;
        const auto found = samples.by_key.find(base);
        if (found == samples.by_key.end()) {
            matching.only_after.push_back(key);
        } else {
            matching.points.push_back({key, found->second, samples.by_key.at(key)});
        }
    }
    if (matching.points.empty()) {
        throw IoError(fmt::format("no two rows of {} differ in {} alone", table.name(), column));
    }
    // The values of one series stand together: 5 and 10 % of one policy, then of the next.
    std::stable_sort(matching.points.begin(), matching.points.end(),
                     [&](const Point& a, const Point& b) {
                         const auto series = [&](const Point& point) {
                             Key key = point.key;
                             key.back() = baseline;
                             return std::find(samples.order.begin(), samples.order.end(), key);
                         };
                         return series(a) < series(b);
                     });
    return matching;
}

}  // namespace abortscope
