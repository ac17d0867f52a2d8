// SPDX-License-Identifier: Apache-2.0
#include "reports/switches_table.hpp"

#include <fmt/format.h>

#include "reports/level_cells.hpp"
#include "reports/numbers.hpp"

namespace abortscope {
namespace {

/// Sums over the repeats in which the kernel's figures were there.
struct Switches {
    std::uint64_t all = 0;
    std::uint64_t involuntary = 0;
    std::uint64_t workers = 0;
    double worker_seconds = 0;
    std::uint64_t repeats = 0;
    bool over_committed = false;

    /// A stray switch by the host's other work is no news.
    bool is_news() const { return over_committed || involuntary >= workers; }
    std::string mean(std::uint64_t sum) const {
        return with_thousands((sum + repeats / 2) / repeats);
    }
};

Switches switches_in(const Sample& sample) {
    Switches sum;
    for (const Measurement* row : sample) {
        const auto& all = row->counters[index_of(Counter::context_switches)].value;
        if (!all || !row->involuntary_switches) continue;
        const std::uint64_t workers = row->worker_operations.size();
        sum.all += *all;
        sum.involuntary += *row->involuntary_switches;
        sum.workers += workers;
        sum.worker_seconds +=
            static_cast<double>(workers) * static_cast<double>(row->duration_ns) / 1e9;
        sum.over_committed |= row->threads > row->cpus;
        ++sum.repeats;
    }
    return sum;
}

}  // namespace

SwitchesTable switches_of(const Grouping& grouping) {
    using enum TextTable::Align;
    std::vector<TextTable::Heading> headings = level_headings(grouping);
    headings.push_back({"phase", "", left});
    headings.push_back({"policy", "", left});
    headings.push_back({"switches", ""});
    headings.push_back({"involuntary", ""});
    headings.push_back({"each worker", "1/s"});
    SwitchesTable result{{}, TextTable(std::move(headings))};
    bool worth_it = false;
    for (std::size_t level = 0; level < grouping.levels().size(); ++level) {
        bool first = true;
        for (const std::string& phase : grouping.phases()) {
            for (const std::string& policy : grouping.policies()) {
                const Switches sum = switches_in(grouping.sample(level, phase, policy));
                if (sum.all == 0 || sum.worker_seconds == 0) continue;
                worth_it |= sum.is_news();
                std::vector<std::string> cells = level_cells(grouping, level, first);
                first = false;
                cells.insert(cells.end(),
                             {phase, policy, sum.mean(sum.all), sum.mean(sum.involuntary),
                              fmt::format("{:.3g}", static_cast<double>(sum.involuntary) /
                                                        sum.worker_seconds)});
                result.table.add(std::move(cells));
            }
        }
    }
    if (worth_it) result.caption = "How often workers were taken off their CPUs (involuntary)";
    return result;
}

}  // namespace abortscope
