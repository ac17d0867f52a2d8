// SPDX-License-Identifier: Apache-2.0
//
// The worst lines of a trial as a table, with who wrote and read which bytes of each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/hot_lines.hpp"
#include "reports/paint.hpp"

namespace abortscope {

/// "0-3,7" from ascending numbers.
std::string number_ranges(const std::vector<unsigned>& numbers);

/// "0-7,24": the bytes of a mask.
std::string byte_ranges(std::uint64_t mask);

/// What kind of trouble a line is: "lock word", "true sharing", "false sharing: pad", "capacity".
std::string kind_of(const HotLine& line);

/// "written 24-31 by 0-3; read 0-23 by 0-3": the uses, workers with the same bytes together.
std::string uses_of(const HotLine& line);

/// `aborts` are all of the trial, so that shares can be told. Ends in a line feed; says so if no
/// line caused any.
std::string hot_lines_table(std::span<const HotLine> lines, std::uint64_t aborts,
                            const Paint& paint = {});

}  // namespace abortscope
