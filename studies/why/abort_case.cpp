// SPDX-License-Identifier: Apache-2.0
#include "studies/why/abort_case.hpp"

#include <algorithm>
#include <utility>

namespace abortscope {
namespace {

std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
}

double abort_rate_of(const AbortCase& each) {
    const AbortLog log = each.log();
    return ratio(log.aborts(), log.attempts).value_or(0);
}

}  // namespace

std::optional<double> PhaseSample::abort_rate() const {
    return ratio(log.aborts(), log.attempts);
}

std::optional<double> PhaseSample::fallback_rate() const {
    return ratio(log.fallbacks, log.acquisitions);
}

std::optional<double> PhaseSample::rate_of(rtm::Cause cause) const {
    return ratio(log.causes[static_cast<std::size_t>(cause)], log.attempts);
}

PhaseSample sample_of(std::span<const Measurement> rows, std::string_view phase) {
    PhaseSample sample;
    for (const Measurement& row : rows) {
        if (row.phase != phase) continue;
        if (const auto speed = row.operations_per_s()) sample.operations_per_s.push_back(*speed);
        if (row.log) add(sample.log, *row.log);
    }
    return sample;
}

AbortLog AbortCase::log() const {
    AbortLog sum;
    for (const Measurement& row : rows) {
        if (row.log) add(sum, *row.log);
    }
    return sum;
}

std::string AbortCase::phase() const {
    std::string worst = rows.front().phase;
    std::uint64_t most = 0;
    for (const Measurement& row : rows) {
        const std::uint64_t aborts = sample_of(rows, row.phase).log.aborts();
        if (aborts <= most) continue;
        most = aborts;
        worst = row.phase;
    }
    return worst;
}

bool are_repeats(const TrialSpec& a, const TrialSpec& b) {
    return a.scenario == b.scenario && a.machine == b.machine && a.lock == b.lock &&
           a.policy == b.policy && a.threads == b.threads && a.cpus == b.cpus &&
           a.values == b.values;
}

void CaseFinder::add(const ScenarioEntry& scenario, const TrialResult& result) {
    if (open_ && !are_repeats(open_->repeats.front(), result.spec)) close();
    if (!open_) {
        open_.emplace();
        open_->scenario = &scenario;
        open_->evidence = result;
        open_->evidence.rows.clear();
    }
    open_->repeats.push_back(result.spec);
    open_->rows.insert(open_->rows.end(), result.rows.begin(), result.rows.end());
}

void CaseFinder::close() {
    if (!worst_ || abort_rate_of(*open_) > abort_rate_of(*worst_)) worst_ = std::move(open_);
    open_.reset();
}

const AbortCase& CaseFinder::worst() {
    if (open_) close();
    return *worst_;
}

}  // namespace abortscope
