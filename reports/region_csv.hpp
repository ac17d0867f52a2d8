// SPDX-License-Identifier: Apache-2.0
//
// The regions of a program (profiler/region.hpp) in the columns of `abortscope run --csv`.
#pragma once

#include <string>

#include "profiler/region.hpp"

namespace abortscope {

/// A header and a line for each lock and site.
std::string region_csv();

/// The same into a file, replaced whole; "-" is standard output. Throws IoError.
void write_region_csv(const std::string& path);

}  // namespace abortscope
