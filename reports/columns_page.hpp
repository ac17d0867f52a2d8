// SPDX-License-Identifier: Apache-2.0
//
// docs/csv.md: what each column means, from the column table.
#pragma once

#include <span>
#include <string>

#include "profiler/columns.hpp"

namespace abortscope {

std::string columns_page(std::span<const Column> columns);

}  // namespace abortscope
