// SPDX-License-Identifier: Apache-2.0
//
// A bare transaction, without a lock to fall back on: what the scenarios that isolate one cause of
// aborts are made of.
#pragma once

#include <string>

#include "primitives/abort_log.hpp"
#include "primitives/machine.hpp"
#include "profiler/errors.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

/// Runs `body` as one outermost transaction, once, and counts the attempt and its end in the
/// worker's log. True: it committed. False: it aborted, and nothing that `body` did has happened.
template <Machine M, class Body>
bool attempt(Body body) {
    AbortLog& log = M::log();
    ++log.attempts;
    const rtm::Status status = M::begin(nullptr);
    if (status.is_started()) {
        body();
        M::commit();
        ++log.commits;  // no lock was acquired: record_commit would count one
        return true;
    }
    log.record_abort(status);
    return false;
}

/// For the constructor of a scenario that is nothing without transactions.
template <Machine M>
void require_rtm(const ScenarioInfo& info) {
    if (M::rtm_available()) return;
    throw CannotMeasure(std::string(info.name) +
                        " runs bare RTM transactions, and none commits here; `abortscope doctor` "
                        "says why, --machine model:haswell runs it simulated");
}

inline constexpr ParameterSpec transactions_parameter(std::int64_t default_value) {
    return {
        .name = "transactions",
        .option = "",
        .help = "transactions that each worker tries, once each",
        .default_value = default_value,
        .minimum = 1,
        .maximum = 100'000'000,
    };
}

}  // namespace abortscope
