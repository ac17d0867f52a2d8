// SPDX-License-Identifier: Apache-2.0
//
// One kernel group of counters on one thread: all of them count together, or none does.
//
// The group is opened, enabled and read by the thread that it counts. Opening never fails as a
// whole: an event that cannot be opened is left out and keeps its errno. enable() and disable()
// are one ioctl each and read() is one read, with no allocation: they stand between phases.
//
//   closed --open--> disabled --enable--> counting --disable--> disabled …
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "profiler/counters/event_request.hpp"
#include "profiler/counters/perf_system.hpp"

namespace abortscope {

/// What an event in a group did between two reads.
enum class SampleState : std::uint8_t {
    counted,      ///< `value` holds for the part running_ns / enabled_ns of the time
    never_ran,    ///< the group never got its counters
    open_failed,  ///< `error` is the errno of perf_event_open
    read_failed,  ///< `error` is the errno of read or ioctl; 0: the kernel gave fewer bytes
};

struct Sample {
    SampleState state = SampleState::never_ran;
    int error = 0;
    std::uint64_t value = 0;  ///< as counted, not scaled
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;
};

class CounterGroup {
  public:
    /// More general counters than any CPU has; a plan's groups are far smaller.
    static constexpr std::size_t most_events = 24;

    explicit CounterGroup(PerfSystem& perf = kernel_perf()) : perf_(&perf) {}
    ~CounterGroup();
    CounterGroup(CounterGroup&& other) noexcept;
    CounterGroup& operator=(CounterGroup&&) = delete;

    /// Opens the events on the calling thread, disabled. At most most_events.
    void open(std::span<const EventRequest> events) noexcept;
    bool is_open() const { return size_ != 0; }

    void enable() noexcept;
    void disable() noexcept;

    /// What each event, in the order of open(), counted since the last read. `to` has its size.
    void read(std::span<Sample> to) noexcept;

    /// The errno with which an event's open failed, 0 if it is open.
    int open_error(std::size_t event) const { return members_[event].error; }

  private:
    struct Member {
        int descriptor = -1;
        int error = 0;
        std::uint64_t last = 0;
    };
    void fail_all(std::span<Sample> to, int error) const noexcept;

    PerfSystem* perf_;
    std::array<Member, most_events> members_{};
    std::size_t size_ = 0;
    int leader_ = -1;
    int control_error_ = 0;
    std::uint64_t last_enabled_ns_ = 0;
    std::uint64_t last_running_ns_ = 0;
};

/// The attributes that an event is opened with, here and by the self-test.
perf_event_attr attributes_of(const EventRequest& event) noexcept;

}  // namespace abortscope
