// SPDX-License-Identifier: Apache-2.0
//
// The library in one include:
//
//     #include <abortscope.hpp>
//
//     abortscope::elided_mutex mutex;                      // elided where RTM commits
//     const abortscope::Region region("table", "insert");  // counts aborts by lock and place
//     abortscope::write_region_csv("aborts.csv");          // in the columns of `abortscope run`
//
// CMake: find_package(abortscope) and abortscope::abortscope; pkg-config: abortscope. C++20.
// docs/library.md has the rest.
#pragma once

#include "machines/native/elided_mutex.hpp"
#include "profiler/region.hpp"
#include "reports/region_csv.hpp"
