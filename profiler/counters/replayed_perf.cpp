// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/replayed_perf.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>

#include "profiler/counters/open_error.hpp"

namespace abortscope {
namespace {

constexpr int first_descriptor = 1'000;

int errno_named(const std::string& word) {
    if (word == "EIO") return EIO;  // of read(2), not of perf_event_open(2)
    for (const OpenError& row : open_errors()) {
        if (row.symbol == word) return row.number;
    }
    throw std::invalid_argument(word + " is not an errno of perf_event_open");
}

template <class Integer>
Integer number(const std::string& word) {
    const bool hexadecimal = word.starts_with("0x");
    const char* first = word.data() + (hexadecimal ? 2 : 0);
    const char* last = word.data() + word.size();
    Integer value{};
    const auto [end, error] = std::from_chars(first, last, value, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != last) throw std::invalid_argument(word + " is no number");
    return value;
}

bool yes(const std::string& word) {
    if (word != "yes" && word != "no") throw std::invalid_argument(word + " is not yes or no");
    return word == "yes";
}

void set_property(PerfBehaviour& perf, std::istringstream& words, const std::string& property) {
    std::string value;
    words >> value;
    if (property == "event") {
        std::string error;
        words >> error;
        perf.event_errno[number<std::uint64_t>(value)] = errno_named(error);
        return;
    }
    if (property == "hardware")
        perf.hardware_errno = errno_named(value);
    else if (property == "software")
        perf.software_errno = errno_named(value);
    else if (property == "kernel_mode")
        perf.kernel_mode_errno = errno_named(value);
    else if (property == "free_counters")
        perf.free_counters = number<unsigned>(value);
    else if (property == "starved")
        perf.starved = yes(value);
    else if (property == "counts")
        perf.counts = yes(value);
    else if (property == "running_pct")
        perf.running_pct = number<unsigned>(value);
    else if (property == "read")
        perf.read_errno = errno_named(value);
    else if (property == "control")
        perf.control_errno = errno_named(value);
    else if (property == "short_read")
        perf.short_read = yes(value);
    else
        throw std::invalid_argument(property + " is no property of a perf_event_open");
}

bool is_general(const perf_event_attr& attributes) {
    return attributes.type != PERF_TYPE_SOFTWARE && attributes.type != PERF_TYPE_HARDWARE;
}

}  // namespace

PerfBehaviour PerfBehaviour::parse(std::string_view text) {
    PerfBehaviour perf;
    std::istringstream lines{std::string(text)};
    std::string line;
    for (unsigned row = 1; std::getline(lines, line); ++row) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string property;
        if (!(words >> property)) continue;
        try {
            set_property(perf, words, property);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument("line " + std::to_string(row) + ": " + error.what());
        }
    }
    return perf;
}

ReplayedPerf::ReplayedPerf(PerfBehaviour behaviour, Gains gains)
    : behaviour_(std::move(behaviour)), gains_(std::move(gains)) {}

unsigned ReplayedPerf::general_events(int leader) const {
    return static_cast<unsigned>(
        std::count_if(events_.begin(), events_.end(), [&](const EventState& event) {
            return event.open && event.leader == leader && is_general(event.attributes);
        }));
}

int ReplayedPerf::refusal(const perf_event_attr& attributes, int group) const {
    const bool software = attributes.type == PERF_TYPE_SOFTWARE;
    const int by_kind = software ? behaviour_.software_errno : behaviour_.hardware_errno;
    if (by_kind != 0) return by_kind;
    if (attributes.exclude_kernel == 0 && behaviour_.kernel_mode_errno != 0) {
        return behaviour_.kernel_mode_errno;
    }
    const auto single = behaviour_.event_errno.find(attributes.config);
    if (!software && single != behaviour_.event_errno.end()) return single->second;
    // As Linux's validate_group(): a group must fit into the CPU's counters as a whole.
    if (group >= 0 && is_general(attributes) &&
        general_events(group) + 1 > behaviour_.free_counters) {
        return EINVAL;
    }
    return 0;
}

int ReplayedPerf::open(const perf_event_attr& attributes, pid_t /*process*/, int /*cpu*/,
                       int group) noexcept {
    const std::scoped_lock lock(mutex_);
    const int error = refusal(attributes, group);
    if (error != 0) return -error;
    const int descriptor = first_descriptor + static_cast<int>(events_.size());
    EventState event;
    event.attributes = attributes;
    event.leader = group >= 0 ? group : descriptor;
    event.open = true;
    events_.push_back(event);
    opened_.push_back(attributes);
    return descriptor;
}

int ReplayedPerf::control(int descriptor, unsigned long request, unsigned long argument) noexcept {
    const std::scoped_lock lock(mutex_);
    if (behaviour_.control_errno != 0) return -behaviour_.control_errno;
    if (request != PERF_EVENT_IOC_DISABLE) return 0;
    for (EventState& event : events_) {
        const bool concerned =
            argument == PERF_IOC_FLAG_GROUP
                ? event.leader == descriptor
                : &event == &events_[static_cast<std::size_t>(descriptor - first_descriptor)];
        if (!event.open || !concerned) continue;
        const auto gain = gains_.by_config.find(event.attributes.config);
        const bool own =
            event.attributes.type != PERF_TYPE_SOFTWARE && gain != gains_.by_config.end();
        const unsigned running_pct = behaviour_.starved ? 0 : behaviour_.running_pct;
        const bool counts = behaviour_.counts || event.attributes.type == PERF_TYPE_SOFTWARE;
        event.enabled_ns += gains_.time_ns;
        event.running_ns += gains_.time_ns * running_pct / 100;
        if (counts) event.value += (own ? gain->second : gains_.other_gain) * running_pct / 100;
    }
    return 0;
}

ssize_t ReplayedPerf::read(int descriptor, void* to, std::size_t size) noexcept {
    const std::scoped_lock lock(mutex_);
    if (behaviour_.read_errno != 0) return -behaviour_.read_errno;
    std::array<std::uint64_t, 64> words{};
    const EventState& first = events_[static_cast<std::size_t>(descriptor - first_descriptor)];
    std::size_t count = 0;
    if ((first.attributes.read_format & PERF_FORMAT_GROUP) != 0) {
        words[1] = first.enabled_ns;
        words[2] = first.running_ns;
        count = 3;
        for (const EventState& event : events_) {
            if (event.open && event.leader == descriptor) words[count++] = event.value;
        }
        words[0] = count - 3;
    } else {
        words = {first.value, first.enabled_ns, first.running_ns};
        count = 3;
    }
    std::size_t bytes = std::min(count * sizeof(std::uint64_t), size);
    if (behaviour_.short_read) bytes -= sizeof(std::uint64_t);
    std::memcpy(to, words.data(), bytes);
    return static_cast<ssize_t>(bytes);
}

void ReplayedPerf::close(int descriptor) noexcept {
    const std::scoped_lock lock(mutex_);
    events_[static_cast<std::size_t>(descriptor - first_descriptor)].open = false;
}

std::vector<perf_event_attr> ReplayedPerf::opened() const {
    const std::scoped_lock lock(mutex_);
    return opened_;
}

std::size_t ReplayedPerf::open_descriptors() const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::count_if(
        events_.begin(), events_.end(), [](const EventState& event) { return event.open; }));
}

}  // namespace abortscope
