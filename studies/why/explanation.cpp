// SPDX-License-Identifier: Apache-2.0
#include "studies/why/explanation.hpp"

#include <algorithm>
#include <utility>

#include "studies/why/deployment.hpp"

namespace abortscope {
namespace {

rtm::Cause dominant_cause(const AbortLog& log) {
    const auto most = std::max_element(log.causes.begin(), log.causes.end());
    return static_cast<rtm::Cause>(most - log.causes.begin());
}

Outcome outcome_of(const Explanation& explanation, VariantRows measured) {
    Outcome outcome{std::move(measured.variant), sample_of(measured.rows, explanation.phase),
                    std::nullopt, false};
    for (double& speed : outcome.after.operations_per_s) speed *= outcome.variant.worth;
    outcome.throughput =
        change_between(explanation.before.operations_per_s, outcome.after.operations_per_s,
                       metric_named("operations_per_s"));
    outcome.removes_cause = outcome.after.rate_of(explanation.cause).value_or(0) * 2 <=
                            explanation.before.rate_of(explanation.cause).value_or(0);
    return outcome;
}

double speed_of(const Outcome& outcome) {
    return outcome.throughput ? outcome.throughput->after.median : 0;
}

/// Of the sizes of one change, in ascending order, the one to tell.
const Outcome& size_to_tell(std::span<const Outcome> sizes) {
    const auto enough = std::find_if(sizes.begin(), sizes.end(),
                                     [](const Outcome& outcome) { return outcome.removes_cause; });
    if (enough != sizes.end()) return *enough;
    return *std::max_element(sizes.begin(), sizes.end(), [](const Outcome& a, const Outcome& b) {
        return speed_of(a) < speed_of(b);
    });
}

bool cures(const Outcome& outcome) {
    return outcome.removes_cause && outcome.is_better();
}

/// How much of a program it changes: only the order counts.
unsigned effort_of(const Variant& variant) {
    if (variant.policy == nullptr) return unbounded;
    return glibc_can_express(*variant.policy) ? 0 : variant.policy->max_attempts;
}

}  // namespace

bool Outcome::is_better() const {
    return throughput && throughput->verdict == Verdict::better;
}

Explanation explain(const AbortCase& abort_case, std::vector<VariantRows> variants) {
    Explanation explanation;
    explanation.abort_case = &abort_case;
    explanation.phase = abort_case.phase();
    explanation.before = sample_of(abort_case.rows, explanation.phase);
    explanation.cause = dominant_cause(explanation.before.log);
    explanation.evidence = evidence_of(abort_case, explanation.cause, explanation.before);
    explanation.measured = variants.size();

    std::vector<Outcome> all;
    for (VariantRows& measured : variants) {
        all.push_back(outcome_of(explanation, std::move(measured)));
    }
    for (auto first = all.begin(); first != all.end();) {
        const auto last = std::find_if(first, all.end(), [&](const Outcome& outcome) {
            return outcome.variant.choice != first->variant.choice;
        });
        explanation.outcomes.push_back(size_to_tell({first, last}));
        first = last;
    }
    std::stable_sort(explanation.outcomes.begin(), explanation.outcomes.end(),
                     [](const Outcome& a, const Outcome& b) {
                         if (cures(a) != cures(b)) return cures(a);
                         return speed_of(a) > speed_of(b);
                     });
    constexpr double as_good = 0.99;
    std::vector<Outcome>& sorted = explanation.outcomes;
    const auto worse = std::find_if(sorted.begin(), sorted.end(), [&](const Outcome& outcome) {
        return !cures(outcome) || speed_of(outcome) < as_good * speed_of(sorted.front());
    });
    std::stable_sort(sorted.begin(), worse, [](const Outcome& a, const Outcome& b) {
        return effort_of(a.variant) < effort_of(b.variant);
    });
    return explanation;
}

}  // namespace abortscope
