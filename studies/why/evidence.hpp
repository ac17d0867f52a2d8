// SPDX-License-Identifier: Apache-2.0
//
// How a case's aborts come about, from what its first repeat recorded: in sentences, each with the
// numbers that it rests on.
#pragma once

#include <string>
#include <vector>

#include "studies/why/abort_case.hpp"

namespace abortscope {

struct Evidence {
    std::string mechanism;  ///< a few words: "false sharing", "lemming effect"
    std::vector<std::string> sentences;
    std::vector<std::string> fields;  ///< of the hottest line, one a line; aligned
};

/// `phase` is the one that is explained.
Evidence evidence_of(const AbortCase& abort_case, rtm::Cause cause, const PhaseSample& phase);

}  // namespace abortscope
