// SPDX-License-Identifier: Apache-2.0
//
// docs/csv.md: what each column means, from the column table.
#pragma once

#include <string>

namespace abortscope {

std::string columns_page();

}  // namespace abortscope
