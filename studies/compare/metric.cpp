// SPDX-License-Identifier: Apache-2.0
#include "studies/compare/metric.hpp"

#include <algorithm>

#include "primitives/rtm_status.hpp"
#include "profiler/columns.hpp"
#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"

namespace abortscope {
namespace {

bool can_be_compared(const Column& column) {
    return column.kind != ColumnKind::text && column.group != ColumnGroup::identity &&
           column.group != ColumnGroup::sources;
}

Better better_of(const Column& column) {
    constexpr std::string_view higher[] = {"operations",     "operations_per_s", "elided",
                                           "worker_ops_min", "worker_ops_mean",  "worker_ops_max",
                                           "tx_commit",      "cycles_ct"};
    constexpr std::string_view neither[] = {"acquisitions", "tx_start", "cycles", "cycles_t"};
    const auto in = [&](const auto& names) {
        return std::find(std::begin(names), std::end(names), column.name) != std::end(names);
    };
    if (in(neither)) return Better::neither;
    return in(higher) ? Better::higher : Better::lower;
}

}  // namespace

std::vector<Metric> default_metrics() {
    std::vector<Metric> metrics;
    for (const char* column :
         {"operations_per_s", "abort_rate", "fallback_rate", "wasted_cycles"}) {
        metrics.push_back(metric_named(column));
    }
    for (const std::string_view cause : rtm::cause_names) {
        metrics.push_back(metric_named("cause_" + std::string(cause)));
    }
    return metrics;
}

Metric metric_named(std::string_view name) {
    std::vector<std::string_view> names;
    for (const Column& column : fixed_columns()) {
        if (!can_be_compared(column)) continue;
        if (column.name == name) {
            return {std::string(name), better_of(column), name.ends_with("_rate"),
                    std::string(column.unit)};
        }
        names.push_back(column.name);
    }
    throw UsageError(unknown_name("metric", name, names));
}

}  // namespace abortscope
