// SPDX-License-Identifier: Apache-2.0
//
// What `stat` counted, as a person reads it and as programs do.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/command/stat.hpp"
#include "reports/context.hpp"
#include "reports/paint.hpp"

namespace abortscope {

/// The table of means, what follows from them, and the reasons of what is absent, with a hint how
/// many runs count everything.
std::string stat_text(const StatOptions& options, const StatResult& result, const CounterPlan& plan,
                      const Paint& paint = {});

/// The same for a pull request, under the command that does it again.
std::string stat_markdown(const StatOptions& options, const StatResult& result,
                          const CounterPlan& plan, const ReportContext& context);

/// One self-contained page: outcomes, categories of the aborts, intervals, and every counter with
/// its source or the reason that it is absent.
std::string stat_html(const StatOptions& options, const StatResult& result, const CounterPlan& plan,
                      const ReportContext& context);

/// One line for an interval: the time and what was counted in it.
std::string stat_interval_text(const StatInterval& interval);

/// Columns: run, kind (interval, total), time_ns, counter, value, source, running_pct,
/// absent_reason. What follows from the counters stands among them, with source `derived`.
std::string stat_csv_header();
std::string stat_csv(std::size_t run, std::string_view kind, std::uint64_t time_ns,
                     const Readings& readings);
/// The totals of every run.
std::string stat_csv_totals(const StatResult& result);

/// What every report begins with, the `program` and its arguments, the `plan` of the counters,
/// `runs` (each with `elapsed_ns`, `status`, `counters`, `derived`, `intervals`), the `mean` of the
/// runs, and `help` for what is derived.
std::string stat_json(const StatOptions& options, const StatResult& result, const CounterPlan& plan,
                      const ReportContext& context);

}  // namespace abortscope
