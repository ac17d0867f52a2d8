// SPDX-License-Identifier: Apache-2.0
//
// Which changes `why` measures against a case: the scenario's own remedies for the causes that
// count, and what can be tried on any workload: other retry policies, fewer workers, other locks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "primitives/retry_policy.hpp"
#include "profiler/scenario.hpp"
#include "studies/why/abort_case.hpp"

namespace abortscope {

struct Variant {
    std::string change{};  ///< as options: "--set padded_count=1"
    std::string words{};   ///< "give the map's count a cache line of its own"
    TrialSpec spec{};      ///< with the seed of the case's first repeat
    /// What one operation is worth in operations of the case: 1/4 where the work is split into
    /// four.
    double worth = 1;
    /// Variants with the same number are one change in several sizes, the smallest first.
    std::size_t choice = 0;
    const RetryPolicy* policy = nullptr;  ///< where the change is one of policy
};

/// Causes below this share of a case's aborts get no remedies of their own.
inline constexpr double share_that_counts = 0.1;

std::vector<Variant> variants_of(const AbortCase& abort_case);

/// The trials of a variant: one for each repeat of the case, with its seeds.
std::vector<Trial> trials_of(const AbortCase& abort_case, const Variant& variant);

}  // namespace abortscope
