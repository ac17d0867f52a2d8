// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/reading_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "profiler/counters/open_error.hpp"

namespace abortscope {
namespace {

/// value * enabled / running, exact: the product of two 64-bit counts does not fit 64 bits.
std::uint64_t extrapolate(const Sample& sample) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{sample.value} * sample.enabled_ns / sample.running_ns);
}

std::string why_never_ran(const HostDescription& host) {
    std::string reason = "the counter group never got its counters";
    if (host.kernel.nmi_watchdog.value_or(false)) {
        return reason + ": the NMI watchdog holds one; run as root: sysctl kernel.nmi_watchdog=0";
    }
    return reason + ": something else holds them; end other profilers and run again";
}

}  // namespace

Reading reading_of(const Sample& sample, const HostDescription& host) {
    switch (sample.state) {
        case SampleState::open_failed:
            return Reading::missing(explain_open_error(sample.error, host));
        case SampleState::read_failed:
            return Reading::missing(
                sample.error == 0
                    ? "the kernel gave fewer bytes than the counters have; update the kernel"
                    : fmt::format("the counters could not be read ({}); run again",
                                  errno_symbol(sample.error)));
        case SampleState::never_ran:
            return Reading::missing(why_never_ran(host));
        case SampleState::counted:
            break;
    }
    if (sample.running_ns >= sample.enabled_ns) return Reading::of(sample.value, Provenance::hw);
    Reading scaled = Reading::of(extrapolate(sample), Provenance::scaled);
    scaled.running_pct =
        100.0 * static_cast<double>(sample.running_ns) / static_cast<double>(sample.enabled_ns);
    return scaled;
}

Reading sum_of(std::span<const Reading> readings) {
    if (readings.empty()) return Reading::missing("no thread counted");
    Reading sum = Reading::of(0, Provenance::hw);
    for (const Reading& reading : readings) {
        if (!reading.value) return reading;
        *sum.value += *reading.value;
        sum.provenance = std::max(sum.provenance, reading.provenance);
        sum.running_pct = std::min(sum.running_pct, reading.running_pct);
    }
    return sum;
}

}  // namespace abortscope
