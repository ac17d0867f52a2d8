// SPDX-License-Identifier: Apache-2.0
#include "studies/shootout/shootout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "reports/grouping.hpp"
#include "reports/level_cells.hpp"
#include "reports/numbers.hpp"
#include "reports/text_table.hpp"
#include "reports/title.hpp"
#include "reports/wrapped.hpp"

namespace abortscope {
namespace {

std::optional<double> ratio(double part, double whole) {
    if (whole == 0) return std::nullopt;
    return part / whole;
}

Contestant contestant_of(const std::string& policy, const Sample& sample) {
    Contestant result;
    result.policy = policy;
    std::vector<double> speeds;
    std::vector<double> fairness;
    AbortLog log;
    double wasted = 0;
    double cycles = 0;
    bool counted = true;
    for (const Measurement* row : sample) {
        if (const auto speed = row->operations_per_s()) speeds.push_back(*speed);
        if (const auto index = jain_index(row->worker_operations)) fairness.push_back(*index);
        if (row->log) add(log, *row->log);
        const auto all = row->counters[index_of(Counter::cycles)].value;
        counted = counted && all && row->wasted_cycles();
        wasted += static_cast<double>(row->wasted_cycles().value_or(0));
        cycles += static_cast<double>(all.value_or(0));
        const auto mean = row->worker_operations_mean();
        if (!mean || *mean == 0) continue;
        for (const std::uint64_t operations : row->worker_operations) {
            const double share = static_cast<double>(operations) / *mean;
            result.least = std::min(result.least.value_or(share), share);
            result.most = std::max(result.most.value_or(share), share);
        }
    }
    result.operations_per_s = median(speeds).value_or(0);
    if (!speeds.empty()) {
        const auto [low, high] = std::minmax_element(speeds.begin(), speeds.end());
        result.spread = {*low, *high};
    }
    if (counted) result.wasted_share = ratio(wasted, cycles);
    result.abort_rate = ratio(static_cast<double>(log.aborts()), static_cast<double>(log.attempts));
    result.fallback_rate =
        ratio(static_cast<double>(log.fallbacks), static_cast<double>(log.acquisitions));
    result.fairness = median(fairness);
    return result;
}

/// The phase in which the lock is taken most often.
std::string contested_phase(std::span<const Measurement> rows) {
    std::map<std::string, std::uint64_t> acquisitions;
    std::string most = rows.front().phase;
    for (const Measurement& row : rows) {
        acquisitions[row.phase] += row.log ? row.log->acquisitions : 0;
    }
    for (const Measurement& row : rows) {
        if (acquisitions[row.phase] > acquisitions[most]) most = row.phase;
    }
    return most;
}

std::string shown(const std::optional<double>& share) {
    return share ? percent(*share) : std::string(no_number);
}

TextTable table_of(const Contest& contest) {
    using enum TextTable::Align;
    double largest = 0;
    double smallest = 0;
    for (const Contestant& each : contest.contestants) {
        largest = std::max(largest, each.operations_per_s);
        if (smallest == 0 || each.operations_per_s < smallest) smallest = each.operations_per_s;
    }
    const Scale scale = rate_scale(smallest, largest);
    TextTable table({{"policy", "", left},
                     {"front", "", left},
                     {"speed", scale.unit},
                     {"low", scale.unit, right, 1},
                     {"high", scale.unit, right, 1},
                     {"wasted", "%"},
                     {"abort", "%"},
                     {"fallback", "%"},
                     {"fairness", "Jain"},
                     {"least", "% mean", right, 2},
                     {"most", "% mean", right, 2}});
    for (const Contestant& each : contest.contestants) {
        table.add({each.policy, each.on_front ? "*" : "", scaled(each.operations_per_s, scale),
                   scaled(each.spread.low, scale), scaled(each.spread.high, scale),
                   shown(each.wasted_share), shown(each.abort_rate), shown(each.fallback_rate),
                   each.fairness ? fmt::format("{:.3f}", *each.fairness) : std::string(no_number),
                   shown(each.least), shown(each.most)});
    }
    return table;
}

constexpr std::string_view legend =
    "*: on the Pareto front, nobody is faster for less waste. wasted: cycles in transactions that "
    "aborted, of all. fairness, least, most: of the workers' operations, which are equal where "
    "each "
    "does a fixed number.";

}  // namespace

std::optional<double> jain_index(std::span<const std::uint64_t> shares) {
    double sum = 0;
    double squares = 0;
    for (const std::uint64_t share : shares) {
        sum += static_cast<double>(share);
        squares += static_cast<double>(share) * static_cast<double>(share);
    }
    return ratio(sum * sum, static_cast<double>(shares.size()) * squares);
}

void mark_front(std::vector<Contestant>& contestants) {
    for (Contestant& each : contestants) {
        if (!each.wasted_share) continue;
        each.on_front =
            std::none_of(contestants.begin(), contestants.end(), [&](const Contestant& other) {
                if (!other.wasted_share) return false;
                const bool as_good = other.operations_per_s >= each.operations_per_s &&
                                     *other.wasted_share <= *each.wasted_share;
                return as_good && (other.operations_per_s > each.operations_per_s ||
                                   *other.wasted_share < *each.wasted_share);
            });
    }
}

std::vector<Contest> contests_of(std::span<const Measurement> rows,
                                 std::span<const Column> columns) {
    std::vector<Contest> contests;
    if (rows.empty()) return contests;
    const std::string phase = contested_phase(rows);
    const Grouping grouping(rows, columns);
    for (std::size_t level = 0; level < grouping.levels().size(); ++level) {
        Contest& contest = contests.emplace_back();
        contest.phase = phase;
        for (const std::string& policy : grouping.policies()) {
            const Sample& sample = grouping.sample(level, phase, policy);
            if (sample.empty()) continue;
            contest.contestants.push_back(contestant_of(policy, sample));
        }
        contest.title = title_of(grouping, rows.front());
        for (std::size_t i = 0; i < grouping.varying().size(); ++i) {
            contest.title += fmt::format(", {} {}", name_without_unit(grouping.varying()[i]),
                                         grouping.levels()[level][i]);
        }
        mark_front(contest.contestants);
        std::stable_sort(contest.contestants.begin(), contest.contestants.end(),
                         [](const Contestant& a, const Contestant& b) {
                             return a.operations_per_s > b.operations_per_s;
                         });
    }
    return contests;
}

std::string shootout_text(std::span<const Contest> contests, unsigned width) {
    std::string text;
    for (const Contest& contest : contests) {
        TextTable table = table_of(contest);
        table.fit(width);
        text +=
            wrapped(contest.title + ": " + contest.phase, 4, width) + "\n\n" + table.text() + '\n';
    }
    return text + wrapped(legend, 0, width) + '\n';
}

std::string shootout_markdown(std::span<const Contest> contests, const ReportContext& context) {
    std::string text;
    for (const Contest& contest : contests) {
        text += fmt::format("### {}: {}\n\n{}\n", contest.title, contest.phase,
                            table_of(contest).markdown());
    }
    return text + fmt::format("\n{}\n\n```sh\n{}\n```\n", legend, shell_command(context.command));
}

}  // namespace abortscope
