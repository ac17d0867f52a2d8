// SPDX-License-Identifier: Apache-2.0
#include "profiler/row.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace abortscope {
namespace {

std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
}

/// From the most to the least trustworthy.
int weakness(Provenance provenance) {
    switch (provenance) {
        case Provenance::model:
            return 0;
        case Provenance::hw:
            return 1;
        case Provenance::software:
            return 2;
        case Provenance::scaled:
            return 3;
        case Provenance::absent:
            break;
    }
    return -1;
}

}  // namespace

std::uint64_t Measurement::operations() const {
    return std::accumulate(worker_operations.begin(), worker_operations.end(), std::uint64_t{0});
}

std::optional<double> Measurement::operations_per_s() const {
    if (time_source == Provenance::absent || duration_ns == 0) return std::nullopt;
    return static_cast<double>(operations()) * 1e9 / static_cast<double>(duration_ns);
}

std::optional<double> Measurement::worker_operations_mean() const {
    return ratio(operations(), worker_operations.size());
}

std::optional<double> Measurement::fallback_rate() const {
    return log ? ratio(log->fallbacks, log->acquisitions) : std::nullopt;
}

std::optional<double> Measurement::abort_rate() const {
    if (log) return ratio(log->aborts(), log->attempts);
    const Reading& aborts = counters[index_of(Counter::tx_abort)];
    const Reading& starts = counters[index_of(Counter::tx_start)];
    if (!aborts.value || !starts.value) return std::nullopt;
    return ratio(*aborts.value, *starts.value);
}

std::optional<std::uint64_t> Measurement::wasted_cycles() const {
    const Reading& inside = counters[index_of(Counter::cycles_t)];
    const Reading& committed = counters[index_of(Counter::cycles_ct)];
    if (!inside.value || !committed.value) return std::nullopt;
    // The two are sampled one after the other; a few cycles between must not wrap around.
    return *inside.value - std::min(*inside.value, *committed.value);
}

std::optional<std::uint64_t> Measurement::longest_fallback_run() const {
    if (!log || (log->attempts == 0 && log->longest_fallback_run == 0)) return std::nullopt;
    return log->longest_fallback_run;
}

std::optional<double> Measurement::fallback_after_fallback_rate() const {
    return log ? ratio(log->fallbacks_after_fallback, log->acquisitions_after_fallback)
               : std::nullopt;
}

Provenance Measurement::counter_source() const {
    Provenance weakest = Provenance::absent;
    for (std::size_t i = 0; i < counter_count; ++i) {
        if (is_software(counter_at(i))) continue;
        if (weakness(counters[i].provenance) > weakness(weakest)) weakest = counters[i].provenance;
    }
    return weakest;
}

std::optional<double> Measurement::counter_running_pct() const {
    std::optional<double> smallest;
    for (const Reading& reading : counters) {
        if (!reading.value) continue;
        smallest = std::min(smallest.value_or(reading.running_pct), reading.running_pct);
    }
    return smallest;
}

std::string Measurement::absent_reason() const {
    std::vector<std::string_view> reasons;
    for (const Reading& reading : counters) {
        const std::string_view reason = reading.absent_reason;
        if (reading.value || reason.empty()) continue;
        if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
            reasons.push_back(reason);
        }
    }
    return fmt::format("{}", fmt::join(reasons, "; "));
}

void add(AbortLog& sum, const AbortLog& log) {
    sum.attempts += log.attempts;
    sum.commits += log.commits;
    sum.acquisitions += log.acquisitions;
    sum.elided += log.elided;
    sum.fallbacks += log.fallbacks;
    sum.misuses += log.misuses;
    for (std::size_t i = 0; i < log.causes.size(); ++i) sum.causes[i] += log.causes[i];
    for (std::size_t i = 0; i < log.bits.size(); ++i) sum.bits[i] += log.bits[i];
    for (std::size_t i = 0; i < log.explicit_codes.size(); ++i) {
        sum.explicit_codes[i] += log.explicit_codes[i];
    }
    sum.longest_fallback_run = std::max(sum.longest_fallback_run, log.longest_fallback_run);
    sum.acquisitions_after_fallback += log.acquisitions_after_fallback;
    sum.fallbacks_after_fallback += log.fallbacks_after_fallback;
}

}  // namespace abortscope
