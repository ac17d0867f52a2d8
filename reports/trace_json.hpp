// SPDX-License-Identifier: Apache-2.0
//
// A trace in the Trace Event Format of Chromium (Google, 2016), which ui.perfetto.dev and
// chrome://tracing open. docs/trace.md says what is in it.
//
//   phase | is here
//   ------+---------------------------------------------------------------------------------
//   M     | the names and the order of the process and of its tracks (tid = 3 * worker + track + 1)
//   X     | a span: ts and dur in microseconds of simulated time, with nanoseconds as decimals
//   s, f  | who aborted whom: an arrow from the killer's span to the victim's roll-back; the id is
//         | the abort's number, as `abortscope replay --abort` takes it
//   i     | from here on the phase was not recorded
#pragma once

#include <string>
#include <string_view>

#include "profiler/trace/trace.hpp"
#include "reports/context.hpp"

namespace abortscope {

/// `title` names the process: "ovs-hmap on model:haswell". Times never decrease from line to line.
std::string trace_json(const Trace& trace, std::string_view title, const ReportContext& context);

}  // namespace abortscope
