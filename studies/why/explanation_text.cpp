// SPDX-License-Identifier: Apache-2.0
//
// An explanation as one screen, and as a page of Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/columns.hpp"
#include "reports/grouping.hpp"
#include "reports/level_cells.hpp"
#include "reports/numbers.hpp"
#include "reports/text_table.hpp"
#include "reports/title.hpp"
#include "reports/wrapped.hpp"
#include "studies/why/deployment.hpp"
#include "studies/why/explanation.hpp"

namespace abortscope {
namespace {

constexpr std::size_t most_lines = 6;  ///< of the table: the page is to fit a screen

std::string rate(const std::optional<double>& value) {
    return value ? percent(*value) : std::string(no_number);
}

std::string title(const AbortCase& abort_case, unsigned width) {
    const ScenarioInfo* scenarios[] = {abort_case.scenario->info};
    const std::vector<Column> columns = columns_for(scenarios);
    const Grouping grouping(abort_case.rows, columns);
    std::string text = wrapped_title(grouping, abort_case.rows.front(), width);
    const std::string& policy = abort_case.repeats.front().policy;
    if (!policy.empty()) text += fmt::format("    policy {}\n", policy);
    return text;
}

/// "10.1 % of the attempts of search abort, 99.8 % of them by conflict: false sharing: pad."
std::string summary(const Explanation& explanation) {
    const AbortLog& log = explanation.before.log;
    std::string text = fmt::format(
        "{} % of the attempts of {} abort, {} % of them for {}.",
        rate(explanation.before.abort_rate()), explanation.phase,
        percent(static_cast<double>(log.causes[static_cast<std::size_t>(explanation.cause)]) /
                static_cast<double>(log.aborts())),
        rtm::name_of(explanation.cause));
    if (log.acquisitions != 0) {
        text += fmt::format(" {} % of the acquisitions fall back to the lock.",
                            rate(explanation.before.fallback_rate()));
    }
    return text;
}

std::string verdict_text(const std::optional<Change>& change) {
    if (!change) return std::string(no_number);
    switch (change->verdict) {
        case Verdict::not_significant:
            return "n.s.";
        case Verdict::too_few:
            return "?";
        default:
            return std::string(name_of(change->verdict));
    }
}

std::string times(const std::optional<Change>& change) {
    return change && change->ratio ? fmt::format("{:.2f}", *change->ratio) : std::string(no_number);
}

std::string speed_text(const std::vector<double>& speeds, const Scale& scale) {
    const auto middle = median(speeds);
    return middle ? scaled(*middle, scale) : std::string(no_number);
}

Scale speed_scale(const Explanation& explanation) {
    double smallest = 0;
    double largest = 0;
    const auto take = [&](const std::vector<double>& speeds) {
        const double speed = median(speeds).value_or(0);
        if (speed > 0 && (smallest == 0 || speed < smallest)) smallest = speed;
        largest = std::max(largest, speed);
    };
    take(explanation.before.operations_per_s);
    for (const Outcome& outcome : explanation.outcomes) take(outcome.after.operations_per_s);
    return rate_scale(smallest, largest);
}

TextTable outcome_table(const Explanation& explanation, std::size_t most) {
    const bool takes_locks = explanation.before.log.acquisitions != 0;
    const Scale scale = speed_scale(explanation);
    using enum TextTable::Align;
    std::vector<TextTable::Heading> headings{{"change", "", left},
                                             {"speed", scale.unit, right, 1},
                                             {"times", ""},
                                             {"is", "", left},
                                             {"abort", "%"}};
    if (takes_locks) headings.push_back({"fallback", "%"});
    TextTable table(std::move(headings));
    const auto add = [&](const std::string& change, const PhaseSample& sample,
                         const std::string& ratio, const std::string& verdict) {
        std::vector<std::string> cells{change, speed_text(sample.operations_per_s, scale), ratio,
                                       verdict, rate(sample.abort_rate())};
        if (takes_locks) cells.push_back(rate(sample.fallback_rate()));
        table.add(std::move(cells));
    };
    add("as it is", explanation.before, "", "");
    for (std::size_t i = 0; i < std::min(most, explanation.outcomes.size()); ++i) {
        const Outcome& outcome = explanation.outcomes[i];
        add(outcome.variant.change, outcome.after, times(outcome.throughput),
            verdict_text(outcome.throughput));
    }
    return table;
}

std::string repeats_text(const Explanation& explanation) {
    const std::size_t repeats = explanation.abort_case->repeats.size();
    if (repeats < enough_repeats) {
        return fmt::format("{} repeat{}: chance cannot be told from change, ?; --repeat 5 can",
                           repeats, repeats == 1 ? "" : "s");
    }
    return fmt::format("medians of {} repeats; n.s.: not significant", repeats);
}

/// From what to what: "17.4 to 3.1 %".
std::string from_to(const std::optional<double>& before, const std::optional<double>& after) {
    return fmt::format("{} to {} %", rate(before), after ? percent(*after) : "none");
}

/// What to do, how much it gained, and how to come by it.
std::string advice(const Explanation& explanation, const Outcome& outcome) {
    std::string text = fmt::format("{}: {}. ", outcome.variant.change, outcome.variant.words);
    const auto& change = outcome.throughput;
    if (change && change->ratio) {
        text += fmt::format("{:.2f} times the throughput", *change->ratio);
        if (change->ratio_interval && change->before.repeats >= enough_repeats) {
            text += fmt::format(" (95 % interval {:.2f} to {:.2f})", change->ratio_interval->low,
                                change->ratio_interval->high);
        }
    } else if (change) {
        const Scale scale = rate_scale(change->after.median, change->after.median);
        text += fmt::format("From no throughput to {} {}", scaled(change->after.median, scale),
                            scale.unit);
    }
    if (outcome.after.log.attempts == 0) {
        text += ", no transaction is tried any more.";
    } else {
        text += ", aborts " + from_to(explanation.before.abort_rate(), outcome.after.abort_rate()) +
                ".";
    }
    if (!outcome.removes_cause) text += " It does not remove the cause.";
    return text;
}

/// How the change comes into a program.
std::string deployment(const Outcome& outcome) {
    if (outcome.variant.policy != nullptr) return how_to_deploy(*outcome.variant.policy);
    return "a code change";
}

/// The best change of any kind, and the best policy where that is another one.
std::vector<const Outcome*> best_of(const Explanation& explanation) {
    std::vector<const Outcome*> best;
    const auto first = std::find_if(explanation.outcomes.begin(), explanation.outcomes.end(),
                                    [](const Outcome& outcome) { return outcome.is_better(); });
    if (first != explanation.outcomes.end()) best.push_back(&*first);
    for (const Outcome& outcome : explanation.outcomes) {
        if (outcome.variant.policy == nullptr || !outcome.is_better()) continue;
        if (std::find(best.begin(), best.end(), &outcome) == best.end() &&
            (best.empty() || best.front()->variant.policy == nullptr)) {
            best.push_back(&outcome);
        }
        break;
    }
    return best;
}

std::string no_gain_text(const Explanation& explanation) {
    if (explanation.outcomes.empty()) return "There is nothing to try against it.";
    return "No change is faster beyond chance.";
}

struct Advice {
    std::string text;
    std::string how;
};

std::vector<Advice> advices(const Explanation& explanation) {
    std::vector<Advice> all;
    for (const Outcome* outcome : best_of(explanation)) {
        all.push_back({advice(explanation, *outcome), deployment(*outcome)});
    }
    return all;
}

/// The command that runs the explained trial again.
std::string again(const Explanation& explanation) {
    return command_for(explanation.abort_case->repeats.front()) + " --hot-lines";
}

}  // namespace

std::string explanation_text(const Explanation& explanation, unsigned width) {
    std::string text = title(*explanation.abort_case, width) + '\n';
    text += wrapped(summary(explanation), 0, width) + "\n\n";
    text += "Why: " + wrapped(explanation.evidence.mechanism, 5, width) + '\n';
    bool fields_shown = false;
    for (const std::string& sentence : explanation.evidence.sentences) {
        text += "  " + wrapped(sentence, 2, width) + '\n';
        if (fields_shown) continue;
        for (const std::string& field : explanation.evidence.fields) {
            constexpr std::size_t indent = 4;
            const bool fits = indent + field.size() <= width;
            text += "    " + (fits ? field : wrapped(field, indent, width)) + '\n';
        }
        fields_shown = true;
    }
    TextTable table = outcome_table(explanation, most_lines);
    text +=
        fmt::format("\nMeasured, best first ({}):\n\n{}", repeats_text(explanation), table.text());
    if (explanation.outcomes.size() > most_lines) {
        text += fmt::format("({} more are in --csv and --markdown)\n",
                            explanation.outcomes.size() - most_lines);
    }
    text += '\n';
    const std::vector<Advice> all = advices(explanation);
    if (all.empty()) text += wrapped(no_gain_text(explanation), 0, width) + '\n';
    for (const Advice& each : all) {
        text += wrapped(each.text, 0, width) + '\n';
        text += "  " + wrapped(each.how, 2, width) + '\n';
    }
    return text;
}

std::string explanation_markdown(const Explanation& explanation, const ReportContext& context) {
    std::string head = title(*explanation.abort_case, 10'000);
    std::replace(head.begin(), head.end(), '\n', ' ');
    std::string text = fmt::format("### Why {} aborts\n\n{}\n\n{}\n\n**{}**\n\n",
                                   explanation.abort_case->scenario->info->name, head,
                                   summary(explanation), explanation.evidence.mechanism);
    for (const std::string& sentence : explanation.evidence.sentences) {
        text += "* " + sentence + '\n';
    }
    if (!explanation.evidence.fields.empty()) {
        text += "\n```\n";
        for (const std::string& field : explanation.evidence.fields) text += field + '\n';
        text += "```\n";
    }
    text += fmt::format("\nMeasured, best first ({}):\n\n{}\n", repeats_text(explanation),
                        outcome_table(explanation, explanation.outcomes.size()).markdown());
    const std::vector<Advice> all = advices(explanation);
    if (all.empty()) text += no_gain_text(explanation) + '\n';
    for (const Advice& each : all) text += fmt::format("* {} `{}`\n", each.text, each.how);
    return text + fmt::format("\n```sh\n{}\n{}\n```\n", shell_command(context.command),
                              again(explanation));
}

std::string nothing_aborts_text(const AbortCase& abort_case, unsigned width) {
    const AbortLog log = abort_case.log();
    return title(abort_case, width) +
           (log.attempts == 0 ? "\nNothing aborts: no transaction was tried.\n"
                              : fmt::format("\nNothing aborts: all {} transactions committed.\n",
                                            with_thousands(log.attempts)));
}

}  // namespace abortscope
