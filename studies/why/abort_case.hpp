// SPDX-License-Identifier: Apache-2.0
//
// What `why` explains: one point of a sweep, all repeats of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/sweep.hpp"
#include "profiler/trial_runner.hpp"

namespace abortscope {

/// One phase of the repeats of a point.
struct PhaseSample {
    std::vector<double> operations_per_s;  ///< one a repeat
    AbortLog log;                          ///< the repeats together

    std::optional<double> abort_rate() const;
    std::optional<double> fallback_rate() const;
    /// Aborts of that cause per attempt.
    std::optional<double> rate_of(rtm::Cause cause) const;
};

PhaseSample sample_of(std::span<const Measurement> rows, std::string_view phase);

struct AbortCase {
    const ScenarioEntry* scenario = nullptr;
    std::vector<TrialSpec> repeats;
    /// Of the first repeat: its hot lines, reasons and capacity map. Its rows are in `rows`.
    TrialResult evidence;
    std::vector<Measurement> rows;  ///< of all repeats

    AbortLog log() const;
    /// The phase with the most aborts; the first one where nothing aborts.
    std::string phase() const;
};

/// Whether the two differ in nothing but seed and repeat.
bool are_repeats(const TrialSpec& a, const TrialSpec& b);

/// Takes a sweep's results one by one, in the order of its trials, and keeps the point with the
/// highest abort rate.
class CaseFinder {
  public:
    void add(const ScenarioEntry& scenario, const TrialResult& result);

    /// The worst point so far; the first one where nothing aborts. Not before `add`.
    const AbortCase& worst();

  private:
    void close();

    std::optional<AbortCase> open_;  ///< whose repeats still come
    std::optional<AbortCase> worst_;
};

}  // namespace abortscope
