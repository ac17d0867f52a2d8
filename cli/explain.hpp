// SPDX-License-Identifier: Apache-2.0
//
// What `why` and `run --why` have in common: the changes against a case are measured, and told.
#pragma once

#include <functional>
#include <string>

#include "studies/why/explanation.hpp"

namespace abortscope::cli {

struct Explained {
    std::string text;
    std::string markdown;
    bool interrupted = false;  ///< changes that were not measured in every repeat are left out
};

/// `take`, if there is one, is given the result of each trial. A change that does not fit the
/// workload, or this computer, is left out.
Explained explain_case(const AbortCase& abort_case, unsigned jobs, bool show_progress,
                       unsigned width, const std::function<void(const TrialResult&)>& take);

}  // namespace abortscope::cli
