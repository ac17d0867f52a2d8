// SPDX-License-Identifier: Apache-2.0
//
// Where the attempts went: for each point that attempted any, how many aborted, of which causes,
// and what fell back.
#pragma once

#include <string>

#include "reports/grouping.hpp"
#include "reports/text_table.hpp"

namespace abortscope {

struct BreakdownTable {
    std::string caption;  ///< empty where nothing was attempted
    TextTable table;
    std::size_t keys;   ///< columns that name a line: levels, phase, policy
    std::string notes;  ///< a paragraph each for what the table alone would hide; may be empty
};

/// Where all that was attempted aborted with status 0, the notes say what that is: "other" would
/// be no answer.
///
/// Causes that never occur have no column. Where the table is fitted to a width, wasted cycles, the
/// number of fallbacks and the number of aborts are left out, in this order; what is still wider
/// can be split behind its keys.
BreakdownTable breakdown_of(const Grouping& grouping);

}  // namespace abortscope
