// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/recorded_host.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "profiler/counters/event_table.hpp"
#include "profiler/errors.hpp"

namespace abortscope {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> text_of(const fs::path& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(file), {}};
}

native::RtmProbe parse_probe(const std::string& text) {
    native::RtmProbe probe;
    std::istringstream lines(text);
    std::string key;
    std::string value;
    while (lines >> key >> value) {
        if (key == "executes") {
            probe.executes = value == "yes";
            continue;
        }
        const auto number = static_cast<std::uint32_t>(std::stoul(value, nullptr, 0));
        if (key == "attempts")
            probe.attempts = number;
        else if (key == "commits")
            probe.commits = number;
        else if (key == "last_status")
            probe.last_status = number;
        else
            throw std::invalid_argument(key + " is not a property of a probe");
    }
    return probe;
}

template <class Parse>
auto parsed(const fs::path& path, Parse parse) {
    try {
        return parse(text_of(path).value_or(""));
    } catch (const std::logic_error& error) {  // std::stoul's errors and invalid_argument
        throw IoError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace

RecordedHost read_recorded_host(const fs::path& root) {
    if (!fs::is_directory(root)) {
        throw IoError(fmt::format("{} is not a directory with a recorded host", root.string()));
    }
    RecordedHost host;
    const auto cpuid =
        parsed(root / "cpuid", [](const std::string& text) { return CpuidRecording(text); });
    host.description = describe_host(root, cpuid);
    host.probe = parsed(root / "rtm_probe", parse_probe);
    host.probe.advertised = host.description.cpu.rtm;
    host.probe.always_abort = host.description.cpu.rtm_always_abort;
    host.perf = parsed(root / "perf", PerfBehaviour::parse);
    return host;
}

KnownWork RecordedHost::self_test_work() const {
    if (!probe.commits_work()) return {};
    return {1'000, 500, 500};
}

ReplayedPerf RecordedHost::kernel() const {
    const KnownWork work = self_test_work();
    ReplayedPerf::Gains gains;
    if (description.cpu.microarch != nullptr) {
        const EventGroup group = description.cpu.microarch->events;
        for (const Event* event : events_of(group)) gains.by_config[event->config] = 0;
        const auto set = [&](Counter counter, std::uint64_t gain) {
            if (const Event* event = event_for(counter, group)) {
                gains.by_config[event->config] = gain;
            }
        };
        set(Counter::tx_start, work.starts);
        set(Counter::tx_commit, work.commits);
        set(Counter::tx_abort, work.aborts);
        set(Counter::cycles_t, work.starts * 100);
        set(Counter::cycles_ct, work.commits * 100);
    }
    return ReplayedPerf(perf, std::move(gains));
}

}  // namespace abortscope
