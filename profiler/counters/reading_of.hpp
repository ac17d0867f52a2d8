// SPDX-License-Identifier: Apache-2.0
//
// From what a counter did to a number that may be shown: scaled where it must be, absent with a
// reason where there is none.
#pragma once

#include <span>

#include "profiler/counters/counter.hpp"
#include "profiler/counters/counter_group.hpp"
#include "profiler/host/host_description.hpp"

namespace abortscope {

/// `hw` if the counter ran all the time; `scaled` by enabled / running if for a part; else absent.
Reading reading_of(const Sample& sample, const HostDescription& host);

/// The sum over threads: absent if any is, scaled if any is, running_pct the lowest of them.
Reading sum_of(std::span<const Reading> readings);

}  // namespace abortscope
