// SPDX-License-Identifier: Apache-2.0
//
// --color auto|always|never, of every command.
//
//   --color | colours
//   --------+-------------------------------------------------------------------------------
//   auto    | on a terminal, unless NO_COLOR is set and not empty or TERM is "dumb"; the default
//   always  | also into a pipe or a file
//   never   | nowhere
//
// NO_COLOR: https://no-color.org
#pragma once

#include <CLI/CLI.hpp>

#include "reports/output.hpp"
#include "reports/paint.hpp"

namespace abortscope::cli {

/// Declares the option; what it says is in force from the parsing on.
void declare_color(CLI::App& app);

Paint paint_for(const Output& output);

}  // namespace abortscope::cli
