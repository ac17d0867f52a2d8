// SPDX-License-Identifier: Apache-2.0
//
// The files of this folder and Chart.js, as the build has put them into the program.
#pragma once

#include <cstddef>
#include <string_view>

namespace abortscope {

struct Asset {
    std::string_view name;  ///< "page.css"
    std::string_view text;
};

extern const Asset assets[];
extern const std::size_t asset_count;

}  // namespace abortscope
