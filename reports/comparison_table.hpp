// SPDX-License-Identifier: Apache-2.0
//
// For each level and phase the baseline, the other policies and how many times faster they are.
//
// Where the policies did the same work at every point (within 5 %) the numbers are times; where a
// phase runs for a time, they are throughputs. A ratio above 1 is always the better.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/grouping.hpp"
#include "reports/numbers.hpp"
#include "reports/text_table.hpp"

namespace abortscope {

class ComparisonTable {
  public:
    /// `grouping` must outlive it.
    explicit ComparisonTable(const Grouping& grouping);

    /// The numbers are times; otherwise they are throughputs.
    bool as_times() const { return as_times_; }

    /// All policies but the baseline.
    std::vector<std::string> others() const;

    /// The baseline and these policies side by side.
    TextTable table(std::span<const std::string> others) const;

    /// As many tables, one below the other, as it takes to stay within `width`.
    std::string text(unsigned width, const Paint& paint = {}) const;

  private:
    std::optional<double> value(std::size_t level, std::string_view phase,
                                std::string_view policy) const;
    Scale choose_scale() const;
    std::string shown(std::optional<double> number) const;
    std::string ratio(std::optional<double> base, std::optional<double> other) const;

    const Grouping& grouping_;
    bool as_times_;
    Scale scale_;
};

}  // namespace abortscope
