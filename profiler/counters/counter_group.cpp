// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter_group.hpp"

#include <algorithm>
#include <utility>

namespace abortscope {

perf_event_attr attributes_of(const EventRequest& event) noexcept {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = event.type;
    attributes.config = event.config;
    if (event.user_only) {
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
    }
    return attributes;
}

CounterGroup::~CounterGroup() {
    // Members before the leader: a group without its leader falls apart into single events.
    for (std::size_t i = size_; i-- > 0;) {
        if (members_[i].descriptor >= 0) perf_->close(members_[i].descriptor);
    }
}

CounterGroup::CounterGroup(CounterGroup&& other) noexcept
    : perf_(other.perf_),
      members_(other.members_),
      size_(std::exchange(other.size_, 0)),
      leader_(std::exchange(other.leader_, -1)),
      control_error_(other.control_error_),
      last_enabled_ns_(other.last_enabled_ns_),
      last_running_ns_(other.last_running_ns_) {}

void CounterGroup::open(std::span<const EventRequest> events) noexcept {
    size_ = std::min(events.size(), most_events);
    for (std::size_t i = 0; i < size_; ++i) {
        perf_event_attr attributes = attributes_of(events[i]);
        attributes.read_format =
            PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        // Only the leader starts disabled: its members follow it.
        if (leader_ < 0) attributes.disabled = 1;
        const int answer = perf_->open(attributes, 0, -1, leader_);
        members_[i] = Member{std::max(answer, -1), answer < 0 ? -answer : 0, 0};
        if (answer >= 0 && leader_ < 0) leader_ = answer;
    }
}

void CounterGroup::enable() noexcept {
    if (leader_ < 0) return;
    control_error_ = -perf_->control(leader_, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

void CounterGroup::disable() noexcept {
    if (leader_ < 0) return;
    const int error = -perf_->control(leader_, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    if (control_error_ == 0) control_error_ = error;
}

void CounterGroup::fail_all(std::span<Sample> to, int error) const noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i].state != SampleState::open_failed) to[i] = {SampleState::read_failed, error};
    }
}

void CounterGroup::read(std::span<Sample> to) noexcept {
    // read(2) with PERF_FORMAT_GROUP and both times: nr, enabled, running, then nr values in the
    // order in which the members joined.
    struct Buffer {
        std::uint64_t count;
        std::uint64_t enabled_ns;
        std::uint64_t running_ns;
        std::array<std::uint64_t, most_events> values;
    } buffer{};
    constexpr std::size_t header = 3 * sizeof(std::uint64_t);

    std::size_t opened = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = Sample{};
        if (i >= size_ || members_[i].descriptor < 0) {
            to[i].state = SampleState::open_failed;
            to[i].error = i < size_ ? members_[i].error : 0;
        } else {
            ++opened;
        }
    }
    if (opened == 0) return;
    if (control_error_ != 0) return fail_all(to, control_error_);
    const ssize_t bytes = perf_->read(leader_, &buffer, sizeof(buffer));
    if (bytes < 0) return fail_all(to, static_cast<int>(-bytes));
    if (static_cast<std::size_t>(bytes) < header + opened * sizeof(std::uint64_t) ||
        buffer.count != opened) {
        return fail_all(to, 0);
    }

    const std::uint64_t enabled_ns = buffer.enabled_ns - last_enabled_ns_;
    const std::uint64_t running_ns = buffer.running_ns - last_running_ns_;
    last_enabled_ns_ = buffer.enabled_ns;
    last_running_ns_ = buffer.running_ns;
    std::size_t position = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i].state == SampleState::open_failed) continue;
        const std::uint64_t total = buffer.values[position++];
        to[i].value = total - std::exchange(members_[i].last, total);
        to[i].enabled_ns = enabled_ns;
        to[i].running_ns = running_ns;
        // A counter that was not enabled at all has not counted either.
        to[i].state = running_ns == 0 ? SampleState::never_ran : SampleState::counted;
    }
}

}  // namespace abortscope
