// SPDX-License-Identifier: Apache-2.0
//
// --fail-if 'abort_rate > +2pp': which change of which metric fails a build.
//
//     CONDITION = METRIC ( '>' | '<' ) [ '+' | '-' ] NUMBER [ '%' | 'pp' ]
//
//     abort_rate > +2pp         the rate rose by more than 2 percentage points
//     operations_per_s < -5%    the throughput fell by more than 5 % of what it was
//     cause_capacity > 1000     1,000 more such aborts
#pragma once

#include <string>
#include <string_view>

#include "studies/compare/change.hpp"

namespace abortscope {

struct FailCondition {
    enum class Unit : unsigned char { plain, percent, points };

    std::string text;  ///< as it was written
    Metric metric;
    bool above = true;
    double threshold = 0;
    Unit unit = Unit::plain;

    /// Throws UsageError.
    static FailCondition parse(std::string_view text);

    /// Whether the change is beyond the threshold and, with three or more repeats a side and unless
    /// `strict`, significant.
    bool fires(const Change& change, bool strict) const;
};

}  // namespace abortscope
