// SPDX-License-Identifier: Apache-2.0
//
// The little statistics that reports need.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace abortscope {

/// The middle value, or the mean of the two in the middle; none of nothing.
std::optional<double> median(std::vector<double> values);

std::optional<double> mean(std::span<const double> values);

}  // namespace abortscope
