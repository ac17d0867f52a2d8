// SPDX-License-Identifier: Apache-2.0
//
// What libpfm4 says about an event: the second opinion on event_table.hpp.
//
// The library answers for PMUs of other CPUs only with LIBPFM_ENCODE_INACTIVE in the environment,
// which it reads while it starts: the first call here sets the variable for that moment. Names,
// not versions, tell what a release knows: pfm_get_version() says 4.0 for all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace abortscope {

/// attr.config of `pmu::event`; nothing if libpfm4 does not know the PMU or the event, or will not
/// start. Thread-safe after the first call.
std::optional<std::uint64_t> libpfm_config(std::string_view pmu, std::string_view event);

/// An event that libpfm4 lists: "RTM_RETIRED:ABORTED_TMR" and its encoding.
struct LibpfmEvent {
    std::string name;
    std::uint64_t config = 0;
};

/// Every umask of the events of `pmu` whose name starts with one of TX_EXEC, TX_MEM, RTM_RETIRED
/// and HLE_RETIRED; empty if libpfm4 does not know the PMU.
std::vector<LibpfmEvent> libpfm_tsx_events(std::string_view pmu);

}  // namespace abortscope
