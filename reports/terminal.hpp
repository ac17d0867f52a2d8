// SPDX-License-Identifier: Apache-2.0
//
// Rows as a person reads them: for each level and phase the baseline, the other policies and how
// many times faster they are; below it where their attempts went.
//
//     ovs-hmap on model:haswell: lock fat-rwlock, 4 threads, 8 cpus, n 200000
//
//     mutation_pct  phase     none  ovs2016  ratio
//                %              ms       ms
//                2  insert    14.1     14.1   1.00
//                   search    78.0     41.4   1.88
//
// Where the policies did the same operations the numbers are times; where a phase runs for a time,
// they are throughputs. A ratio above 1 is always the better.
#pragma once

#include <span>
#include <string>

#include "profiler/columns.hpp"
#include "reports/paint.hpp"

namespace abortscope {

/// `width` is the terminal's; tables that are wider are split by policies or lose columns.
/// Every line fits 80 columns if `width` is 80, but for names that do not.
std::string terminal_report(std::span<const Measurement> rows, std::span<const Column> columns,
                            unsigned width, const Paint& paint = {});

}  // namespace abortscope
