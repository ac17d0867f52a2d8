// SPDX-License-Identifier: Apache-2.0
#include "cli/hints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "primitives/retry_policy.hpp"
#include "profiler/machine_names.hpp"

namespace abortscope::cli {
namespace {

constexpr std::size_t most_hints = 2;
constexpr double notable_abort_rate = 0.05;
constexpr double high_abort_rate = 0.2;

/// A policy's rows together.
struct PolicyLog {
    std::string policy;
    AbortLog log;
};

double abort_rate(const AbortLog& log) {
    if (log.attempts == 0) return 0;
    return static_cast<double>(log.aborts()) / static_cast<double>(log.attempts);
}

bool is_mostly_conflicts(const AbortLog& log) {
    const std::uint64_t conflicts = log.causes[static_cast<std::size_t>(rtm::Cause::conflict)];
    return abort_rate(log) >= notable_abort_rate && conflicts * 2 > log.aborts();
}

/// Those that attempted anything, in the rows' order.
std::vector<PolicyLog> logs_by_policy(std::span<const Measurement> rows) {
    std::vector<PolicyLog> logs;
    for (const Measurement& row : rows) {
        if (!row.log || row.log->attempts == 0) continue;
        auto known = std::find_if(logs.begin(), logs.end(), [&](const PolicyLog& entry) {
            return entry.policy == row.policy;
        });
        if (known == logs.end()) known = logs.insert(known, {row.policy, {}});
        add(known->log, *row.log);
    }
    return logs;
}

std::string hot_lines_hint(const std::vector<PolicyLog>& logs) {
    const auto conflicting = static_cast<std::size_t>(
        std::count_if(logs.begin(), logs.end(),
                      [](const PolicyLog& entry) { return is_mostly_conflicts(entry.log); }));
    if (conflicting == 0) return "";
    const std::string who = logs.size() > 1 ? fmt::format("{} of {} policies abort mostly for",
                                                          conflicting, logs.size())
                                            : "most aborts are";
    return fmt::format("{} conflicts: --hot-lines names the lines", who);
}

/// What `why` should be asked: the policy that aborts most.
std::string why_hint(const std::vector<PolicyLog>& logs, const Measurement& row) {
    const auto worst =
        std::max_element(logs.begin(), logs.end(), [](const PolicyLog& a, const PolicyLog& b) {
            return abort_rate(a.log) < abort_rate(b.log);
        });
    if (worst == logs.end() || abort_rate(worst->log) < high_abort_rate) return "";
    return fmt::format("{:.0f} % of the attempts{} abort: `abortscope why {}{}` says why",
                       100 * abort_rate(worst->log),
                       worst->policy.empty() ? "" : " of " + worst->policy, row.scenario,
                       worst->policy.empty() ? "" : " --policy " + worst->policy);
}

bool is_comparison(std::span<const Measurement> rows) {
    return std::any_of(rows.begin(), rows.end(), [&](const Measurement& row) {
        return row.phase == rows.front().phase && &row != &rows.front();
    });
}

}  // namespace

std::vector<std::string> hints_for(std::span<const Measurement> rows,
                                   const std::function<bool(std::string_view)>& given,
                                   const std::function<bool(std::string_view)>& exists) {
    std::vector<std::string> hints;
    if (rows.empty()) return hints;
    const auto add_hint = [&](std::string hint) {
        if (!hint.empty() && hints.size() < most_hints) hints.push_back(std::move(hint));
    };
    const std::vector<PolicyLog> logs = logs_by_policy(rows);
    const bool on_model = std::none_of(
        rows.begin(), rows.end(), [](const Measurement& row) { return is_native(row.machine); });
    if (on_model && !given("--hot-lines")) add_hint(hot_lines_hint(logs));
    if (on_model && exists("why") && !given("--why")) add_hint(why_hint(logs, rows.front()));
    if (!given("--repeat") && is_comparison(rows)) {
        add_hint("one repeat of each: --repeat 5 tells a difference from chance");
    }
    return hints;
}

}  // namespace abortscope::cli
