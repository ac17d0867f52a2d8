// SPDX-License-Identifier: Apache-2.0
//
// How a program comes to a retry policy: an environment variable, a library's lock, or new code.
#pragma once

#include <string>

#include "primitives/retry_policy.hpp"

namespace abortscope {

/// Whether glibc's elision, with its tunables, can do what the policy does: attempts end at the
/// first abort without the RETRY hint, nothing waits or backs off, and one number of skips serves
/// all aborts.
bool glibc_can_express(const RetryPolicy& policy);

/// One sentence, or a setting of the environment.
std::string how_to_deploy(const RetryPolicy& policy);

}  // namespace abortscope
