// SPDX-License-Identifier: Apache-2.0
//
// A diagnosis as a person reads it, and as a program does.
#pragma once

#include <string>

#include "profiler/host/doctor.hpp"

namespace abortscope {

/// The truth table, the checks with a remedy under each that has one, the counters, the verdict.
std::string doctor_text(const Diagnosis& diagnosis);

/// The same as one JSON object: `host`, `rtm`, `checks`, `counters`, `plan`, `can_measure_rtm`.
std::string doctor_json(const Diagnosis& diagnosis);

}  // namespace abortscope
