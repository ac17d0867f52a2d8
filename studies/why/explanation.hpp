// SPDX-License-Identifier: Apache-2.0
//
// Why a case aborts and what was measured against it.
//
//     CaseFinder finder;               // fed with a sweep's results
//     const AbortCase& worst = finder.worst();
//     for (const Variant& variant : variants_of(worst)) ... run trials_of(worst, variant)
//     explain(worst, measured) -> text, Markdown
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/context.hpp"
#include "studies/compare/change.hpp"
#include "studies/why/abort_case.hpp"
#include "studies/why/evidence.hpp"
#include "studies/why/variants.hpp"

namespace abortscope {

/// A variant's rows, of every repeat.
struct VariantRows {
    Variant variant;
    std::vector<Measurement> rows;
};

/// What came of a variant in the phase that is explained.
struct Outcome {
    Variant variant;
    PhaseSample after;  ///< throughput in operations of the case
    std::optional<Change> throughput;
    /// At most half as many aborts of the cause per attempt as before; so does one that attempts
    /// nothing.
    bool removes_cause = false;

    /// Faster, and not by chance as far as the repeats can tell.
    bool is_better() const;
};

struct Explanation {
    const AbortCase* abort_case = nullptr;
    std::string phase;
    rtm::Cause cause = rtm::Cause::other;
    PhaseSample before;
    Evidence evidence;
    /// Best first: those that remove the cause and are faster, then by throughput; of those that
    /// are within 1 % of the best the smallest first: a policy that glibc has, one of few attempts,
    /// then changes of code. Of a change in several sizes only the smallest that removes the cause,
    /// or else the fastest.
    std::vector<Outcome> outcomes;
    std::size_t measured = 0;  ///< variants, with all sizes
};

/// `abort_case` must have aborts, and outlive the explanation.
Explanation explain(const AbortCase& abort_case, std::vector<VariantRows> variants);

/// One screen. `width` is the terminal's.
std::string explanation_text(const Explanation& explanation, unsigned width);
std::string explanation_markdown(const Explanation& explanation, const ReportContext& context);

/// What is said of a case in which nothing aborts.
std::string nothing_aborts_text(const AbortCase& abort_case, unsigned width);

}  // namespace abortscope
