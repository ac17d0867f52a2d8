// SPDX-License-Identifier: Apache-2.0
#include "reports/breakdown_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "profiler/decode.hpp"
#include "profiler/machine_names.hpp"
#include "reports/level_cells.hpp"
#include "reports/numbers.hpp"

namespace abortscope {
namespace {

/// The logs of the repeats together.
AbortLog pooled(const Sample& sample) {
    AbortLog sum;
    for (const Measurement* row : sample) {
        if (row->log) add(sum, *row->log);
    }
    return sum;
}

/// Wasted cycles as a share of all cycles, where both were measured.
std::optional<double> wasted_share(const Sample& sample) {
    double wasted = 0;
    double cycles = 0;
    for (const Measurement* row : sample) {
        const std::optional<std::uint64_t> all = row->counters[index_of(Counter::cycles)].value;
        if (!row->wasted_cycles() || !all) return std::nullopt;
        wasted += static_cast<double>(*row->wasted_cycles());
        cycles += static_cast<double>(*all);
    }
    if (cycles == 0) return std::nullopt;
    return wasted / cycles;
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return std::string(no_number);
    return percent(static_cast<double>(part) / static_cast<double>(whole));
}

/// The mean over the repeats, as counts are large and the same work was done in each.
std::string count(std::uint64_t sum, std::size_t repeats) {
    return with_thousands((sum + repeats / 2) / repeats);
}

struct BreakdownLine {
    std::size_t level;
    std::string phase;
    std::string policy;
    const Sample* sample;
    AbortLog log;
};

struct BreakdownColumn {
    TextTable::Heading heading;
    std::function<std::string(const BreakdownLine&)> cell;
    bool is_key = false;  ///< names the line
};

std::vector<BreakdownLine> breakdown_lines(const Grouping& grouping) {
    std::vector<BreakdownLine> lines;
    for (std::size_t level = 0; level < grouping.levels().size(); ++level) {
        for (const std::string& phase : grouping.phases()) {
            for (const std::string& policy : grouping.policies()) {
                const Sample& sample = grouping.sample(level, phase, policy);
                AbortLog log = pooled(sample);
                if (log.attempts == 0) continue;
                lines.push_back({level, phase, policy, &sample, std::move(log)});
            }
        }
    }
    return lines;
}

bool has_several_phases(const std::vector<BreakdownLine>& lines) {
    return std::any_of(lines.begin(), lines.end(), [&](const BreakdownLine& line) {
        return line.phase != lines.front().phase;
    });
}

/// Whether real acquisitions follow each other so long that it is worth a column: one that takes
/// the lock makes the next one take it too (the lemming effect).
bool has_lemmings(const std::vector<BreakdownLine>& lines) {
    constexpr std::uint64_t long_run = 10;
    return std::any_of(lines.begin(), lines.end(), [](const BreakdownLine& line) {
        return line.log.longest_fallback_run >= long_run;
    });
}

std::vector<BreakdownColumn> breakdown_columns(const std::vector<BreakdownLine>& lines) {
    using Line = BreakdownLine;
    using enum TextTable::Align;
    std::vector<BreakdownColumn> columns;
    if (has_several_phases(lines)) {
        columns.push_back({{"phase", "", left}, [](const Line& line) { return line.phase; }, true});
    }
    if (!lines.front().policy.empty()) {
        columns.push_back(
            {{"policy", "", left}, [](const Line& line) { return line.policy; }, true});
    }
    columns.push_back({{"attempts", ""}, [](const Line& line) {
                           return count(line.log.attempts, line.sample->size());
                       }});
    columns.push_back({{"aborts", "", right, 3}, [](const Line& line) {
                           return count(line.log.aborts(), line.sample->size());
                       }});
    columns.push_back({{"aborted", "%"}, [](const Line& line) {
                           return share(line.log.aborts(), line.log.attempts);
                       }});
    for (std::size_t cause = 0; cause < rtm::cause_count; ++cause) {
        const bool occurs = std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
            return line.log.causes[cause] != 0;
        });
        if (!occurs) continue;
        columns.push_back({{std::string(rtm::cause_names[cause]), "%"}, [cause](const Line& line) {
                               return share(line.log.causes[cause], line.log.aborts());
                           }});
    }
    const bool takes_locks = std::any_of(
        lines.begin(), lines.end(), [](const Line& line) { return line.log.acquisitions != 0; });
    if (takes_locks) {
        columns.push_back({{"fallbacks", "", right, 2}, [](const Line& line) {
                               return count(line.log.fallbacks, line.sample->size());
                           }});
        columns.push_back({{"fallback", "%"}, [](const Line& line) {
                               return share(line.log.fallbacks, line.log.acquisitions);
                           }});
    }
    if (has_lemmings(lines)) {
        columns.push_back({{"run", "longest"}, [](const Line& line) {
                               return with_thousands(line.log.longest_fallback_run);
                           }});
        columns.push_back({{"again", "%"}, [](const Line& line) {
                               return share(line.log.fallbacks_after_fallback,
                                            line.log.acquisitions_after_fallback);
                           }});
    }
    columns.push_back({{"wasted", "%", right, 1}, [](const Line& line) {
                           const std::optional<double> wasted = wasted_share(*line.sample);
                           return wasted ? percent(*wasted) : std::string(no_number);
                       }});
    return columns;
}

/// Whether nothing committed and no abort left a bit in its status.
bool is_all_zero(const BreakdownLine& line) {
    return line.log.commits == 0 && line.log.aborts() == line.log.attempts &&
           line.log.causes[static_cast<std::size_t>(rtm::Cause::other)] == line.log.attempts;
}

std::string notes_of(const std::vector<BreakdownLine>& lines) {
    std::vector<std::string> whose;
    bool native = false;
    for (const BreakdownLine& line : lines) {
        if (!is_all_zero(line)) continue;
        native |= is_native(line.sample->front()->machine);
        const std::string& name = line.policy.empty() ? line.phase : line.policy;
        if (std::find(whose.begin(), whose.end(), name) == whose.end()) whose.push_back(name);
    }
    if (whose.empty()) return {};
    std::string text =
        fmt::format("{}: nothing commits and every status is 0: {}. `abortscope {}` tells which.",
                    fmt::join(whose, ", "), every_status_zero, native ? "doctor" : "why");
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

BreakdownTable breakdown_of(const Grouping& grouping) {
    const std::vector<BreakdownLine> lines = breakdown_lines(grouping);
    if (lines.empty()) return {{}, TextTable({}), 0, {}};
    const std::vector<BreakdownColumn> columns = breakdown_columns(lines);
    std::vector<TextTable::Heading> headings = level_headings(grouping);
    std::size_t keys = headings.size();
    for (const BreakdownColumn& column : columns) {
        if (column.is_key) ++keys;
        headings.push_back(column.heading);
    }
    TextTable table(std::move(headings));
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool first = i == 0 || lines[i].level != lines[i - 1].level;
        std::vector<std::string> cells = level_cells(grouping, lines[i].level, first);
        for (const BreakdownColumn& column : columns) cells.push_back(column.cell(lines[i]));
        table.add(std::move(cells));
    }
    const std::string whose = has_several_phases(lines) ? "" : " of " + lines.front().phase;
    const std::string lemmings =
        has_lemmings(lines)
            ? "\n(run: most fallbacks in a row; again: share that falls back after a fallback)"
            : "";
    return {"Where the attempts" + whose + " went, causes in % of the aborts" + lemmings,
            std::move(table), keys, notes_of(lines)};
}

}  // namespace abortscope
