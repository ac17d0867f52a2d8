// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cli/invocation.hpp"
#include "cli/session.hpp"
#include "profiler/errors.hpp"

namespace abortscope::cli {
namespace {

/// Some workloads take only certain numbers of workers, say: no rows then.
TrialResult run_if_possible(const Trial& trial) {
    try {
        return run_as_specified(trial);
    } catch (const UsageError&) {
    } catch (const CannotMeasure&) {
    }
    TrialResult nothing;
    nothing.spec = trial.spec;
    return nothing;
}

}  // namespace

Explained explain_case(const AbortCase& abort_case, unsigned jobs, bool show_progress,
                       unsigned width, const std::function<void(const TrialResult&)>& take) {
    Explained explained;
    if (abort_case.log().aborts() == 0) {
        explained.text = nothing_aborts_text(abort_case, width);
        explained.markdown = explained.text;
        return explained;
    }
    std::vector<VariantRows> variants;
    std::vector<Trial> trials;
    for (Variant& variant : variants_of(abort_case)) {
        for (Trial& trial : trials_of(abort_case, variant)) trials.push_back(std::move(trial));
        variants.push_back({std::move(variant), {}});
    }
    const SessionResult session = run_session(
        std::move(trials), jobs, show_progress,
        [&](TrialResult result) {
            if (take) take(result);
            const auto variant =
                std::find_if(variants.begin(), variants.end(), [&](const VariantRows& each) {
                    return are_repeats(each.variant.spec, result.spec);
                });
            variant->rows.insert(variant->rows.end(), std::make_move_iterator(result.rows.begin()),
                                 std::make_move_iterator(result.rows.end()));
        },
        run_if_possible);
    explained.interrupted = session.interrupted;
    std::erase_if(variants, [&](const VariantRows& each) {
        return sample_of(each.rows, abort_case.phase()).operations_per_s.size() <
               abort_case.repeats.size();
    });
    const Explanation explanation = explain(abort_case, std::move(variants));
    explained.text = explanation_text(explanation, width);
    explained.markdown = explanation_markdown(explanation, report_context());
    return explained;
}

}  // namespace abortscope::cli
