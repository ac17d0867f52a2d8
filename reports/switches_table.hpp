// SPDX-License-Identifier: Apache-2.0
//
// How often workers were taken off their CPUs, per level, phase and policy: what over-commit does.
#pragma once

#include <string>

#include "reports/grouping.hpp"
#include "reports/text_table.hpp"

namespace abortscope {

struct SwitchesTable {
    /// Empty where nothing was over-committed and no phase had an involuntary switch for each
    /// worker.
    std::string caption;
    TextTable table;
};

/// Context switches, how many of them were involuntary (the slice was over or a woken task came
/// first, not the worker's own wait), and the latter for each worker and second: means over the
/// repeats. A phase without context switches has no line.
SwitchesTable switches_of(const Grouping& grouping);

}  // namespace abortscope
