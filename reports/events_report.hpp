// SPDX-License-Identifier: Apache-2.0
//
// The list of events as a person reads it, and as CSV.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "profiler/counters/event_list.hpp"

namespace abortscope {

/// A table under `title`; reasons and caveats as numbered notes below it. Where `width` is too
/// small for it, libpfm4's names are left out, then what is precise, then which counters an event
/// may be on.
std::string events_text(std::string_view title, std::span<const ListedEvent> events,
                        std::size_t width = std::numeric_limits<std::size_t>::max());

/// Columns: counter, event, libpfm4, encoding, counters, precise, pmu, opens, reason, caveat.
std::string events_csv(std::span<const ListedEvent> events);

}  // namespace abortscope
