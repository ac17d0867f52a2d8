// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/libpfm.hpp"

#include <perfmon/pfmlib_perf_event.h>

#include <bit>
#include <cstdlib>
#include <cstring>

#include "profiler/counters/event_table.hpp"

namespace abortscope {
namespace {

bool start_library() {
    constexpr const char* variable = "LIBPFM_ENCODE_INACTIVE";
    const bool already_set = std::getenv(variable) != nullptr;
    if (!already_set) setenv(variable, "1", 1);
    const bool started = pfm_initialize() == PFM_SUCCESS;
    if (!already_set) unsetenv(variable);
    return started;
}

bool library_works() {
    static const bool works = start_library();
    return works;
}

/// The library's PMU numbers change from release to release; only a scan finds a name. The bound
/// is not PFM_PMU_MAX, which is the header's and hides PMUs that a newer library has, but what the
/// type can hold.
std::optional<pfm_pmu_t> pmu_named(std::string_view name) {
    constexpr unsigned bound = std::bit_ceil(static_cast<unsigned>(PFM_PMU_MAX) + 1);
    for (unsigned number = 0; number < bound; ++number) {
        pfm_pmu_info_t info{};
        info.size = sizeof(info);
        const auto pmu = static_cast<pfm_pmu_t>(number);
        if (pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && info.name != nullptr &&
            name == info.name) {
            return pmu;
        }
    }
    return std::nullopt;
}

bool is_tsx(std::string_view event) {
    return event == "TX_EXEC" || event == "TX_MEM" || event == "RTM_RETIRED" ||
           event == "HLE_RETIRED";
}

}  // namespace

std::optional<std::uint64_t> libpfm_config(std::string_view pmu, std::string_view event) {
    if (!library_works() || pmu.empty()) return std::nullopt;
    std::string name(pmu);
    name.append("::").append(event);
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    pfm_perf_encode_arg_t request{};
    request.attr = &attributes;
    request.size = sizeof(request);
    if (pfm_get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &request) !=
        PFM_SUCCESS) {
        return std::nullopt;
    }
    return attributes.config;
}

std::vector<LibpfmEvent> libpfm_tsx_events(std::string_view pmu) {
    std::vector<LibpfmEvent> events;
    const auto number = library_works() ? pmu_named(pmu) : std::nullopt;
    if (!number) return events;
    pfm_pmu_info_t info{};
    info.size = sizeof(info);
    pfm_get_pmu_info(*number, &info);
    for (int index = info.first_event; index != -1; index = pfm_get_event_next(index)) {
        pfm_event_info_t event{};
        event.size = sizeof(event);
        if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS ||
            !is_tsx(event.name)) {
            continue;
        }
        for (int attribute = 0; attribute < event.nattrs; ++attribute) {
            pfm_event_attr_info_t umask{};
            umask.size = sizeof(umask);
            if (pfm_get_event_attr_info(index, attribute, PFM_OS_PERF_EVENT, &umask) !=
                    PFM_SUCCESS ||
                umask.type != PFM_ATTR_UMASK) {
                continue;
            }
            const std::string name = std::string(event.name) + ":" + umask.name;
            if (const auto config = libpfm_config(pmu, name)) events.push_back({name, *config});
        }
    }
    return events;
}

}  // namespace abortscope
