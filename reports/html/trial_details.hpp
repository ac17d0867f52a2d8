// SPDX-License-Identifier: Apache-2.0
//
// What the page shows of a trial beside its rows: the lines that its transactions died of, and the
// places of L1 that overflowed. Known on the model only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/trial_runner.hpp"

namespace abortscope {

struct TrialDetails {
    std::size_t first_row = 0;  ///< the trial's first, among the rows of the report
    std::vector<HotLine> hot_lines;
    std::vector<std::uint64_t> capacity_map;  ///< aborts by set * ways + way; empty on native
    unsigned ways = 0;
};

TrialDetails details_of(const TrialResult& result, std::size_t first_row);

/// As data of the page.
std::string details_json(std::span<const TrialDetails> trials);

}  // namespace abortscope
