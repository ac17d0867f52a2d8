// SPDX-License-Identifier: Apache-2.0
//
// Rows as a page of GitHub's Markdown: the tables of the terminal, the command that makes them
// again, and all rows with their exact numbers in a fold.
#pragma once

#include <span>
#include <string>

#include "profiler/columns.hpp"
#include "reports/context.hpp"

namespace abortscope {

std::string markdown_report(std::span<const Measurement> rows, std::span<const Column> columns,
                            const ReportContext& context);

}  // namespace abortscope
