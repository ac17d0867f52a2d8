// SPDX-License-Identifier: Apache-2.0
//
// A perf_event_open that behaves as described, instead of the kernel's: for hosts that somebody
// else recorded (`doctor --root`), and for tests that inject what a kernel can do wrong.
//
// A description is text, one property a line, `#` to the end of a line is a comment:
//
//     hardware ENOENT      every event of the CPU's PMU fails to open with this errno
//     software EPERM       the kernel's own events do
//     kernel_mode EACCES   events that do not leave out the kernel do
//     event 0x8c9 EINVAL   the raw event with this config does
//     free_counters 3      general counters that nobody else holds: a larger group is refused
//     starved yes          groups open but never run
//     counts no            events open and stay at zero
//     running_pct 40       counters run for a part of the time
//     read EIO             reading fails
//     control EINVAL       enabling fails
//     short_read yes       reads give fewer bytes than asked for
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "profiler/counters/perf_system.hpp"

namespace abortscope {

struct PerfBehaviour {
    int hardware_errno = 0;
    int software_errno = 0;
    int kernel_mode_errno = 0;
    std::map<std::uint64_t, int> event_errno;  ///< by config
    unsigned free_counters = 64;
    bool starved = false;
    bool counts = true;
    unsigned running_pct = 100;
    int read_errno = 0;
    int control_errno = 0;
    bool short_read = false;

    /// Throws std::invalid_argument, with the line, for one that is none of the above.
    static PerfBehaviour parse(std::string_view text);
};

/// Thread-safe.
class ReplayedPerf final : public PerfSystem {
  public:
    /// What a counter gains between enable and disable, by config; others gain `other_gain`.
    struct Gains {
        std::map<std::uint64_t, std::uint64_t> by_config;
        std::uint64_t other_gain = 1'000;
        std::uint64_t time_ns = 1'000'000;
    };

    ReplayedPerf(PerfBehaviour behaviour, Gains gains);

    int open(const perf_event_attr& attributes, pid_t process, int cpu,
             int group) noexcept override;
    int control(int descriptor, unsigned long request, unsigned long argument) noexcept override;
    ssize_t read(int descriptor, void* to, std::size_t size) noexcept override;
    void close(int descriptor) noexcept override;

    /// Descriptors that are open now: what a test asks for leaks.
    std::size_t open_descriptors() const;
    /// The attributes of every event that was opened, in order.
    std::vector<perf_event_attr> opened() const;

  private:
    struct EventState {
        perf_event_attr attributes{};
        int leader = -1;  ///< its own descriptor for a leader
        bool open = false;
        std::uint64_t value = 0;
        std::uint64_t enabled_ns = 0;
        std::uint64_t running_ns = 0;
    };
    int refusal(const perf_event_attr& attributes, int group) const;
    unsigned general_events(int leader) const;

    mutable std::mutex mutex_;
    PerfBehaviour behaviour_;
    Gains gains_;
    std::vector<EventState> events_;  ///< by descriptor - first_descriptor
    std::vector<perf_event_attr> opened_;
};

}  // namespace abortscope
