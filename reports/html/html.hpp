// SPDX-License-Identifier: Apache-2.0
//
// Rows as one self-contained HTML page: charts, a table that sorts and filters, the command that
// makes it again. It needs no network, and holds the JSON report that it draws. Of trials on the
// model it also shows the hottest lines and a map of L1, if it is given their details.
#pragma once

#include <span>
#include <string>

#include "profiler/columns.hpp"
#include "reports/context.hpp"
#include "reports/html/trial_details.hpp"

namespace abortscope {

std::string html_report(std::span<const Measurement> rows, std::span<const Column> columns,
                        const ReportContext& context, std::span<const TrialDetails> trials = {});

}  // namespace abortscope
