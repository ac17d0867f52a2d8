// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "profiler/counters/event_list.hpp"
#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"
#include "reports/events_report.hpp"
#include "reports/output.hpp"

namespace abortscope::cli {
namespace {

const Microarch& cpu_named(const std::string& name) {
    if (const Microarch* cpu = microarch_named(name)) return *cpu;
    std::vector<std::string_view> names;
    for (const Microarch& cpu : microarchs()) names.push_back(cpu.name);
    throw UsageError(unknown_name("CPU", name, names));
}

}  // namespace

Action declare_events(CLI::App& app) {
    struct Options {
        std::string cpu;
        bool csv = false;
    };
    auto options = std::make_shared<Options>();
    std::string cpus;
    for (const Microarch& cpu : microarchs()) cpus += fmt::format(" {}", cpu.name);
    app.add_option("--cpu", options->cpu, "Show another CPU's table instead:" + cpus);
    app.add_flag("--csv", options->csv, "Print the list as CSV");
    return [options] {
        std::vector<ListedEvent> events;
        std::string title;
        if (options->cpu.empty()) {
            const HostDescription host = describe_host();
            events = events_of_host(host, kernel_perf());
            title = host.cpu.brand.empty() ? "this computer" : host.cpu.brand;
        } else {
            const Microarch& cpu = cpu_named(options->cpu);
            events = events_of_cpu(cpu);
            title = fmt::format("{} ({}), not tried here", cpu.title, cpu.name);
        }
        Output output = Output::standard();
        if (options->csv) {
            output.write(events_csv(events));
        } else if (output.is_terminal()) {
            output.print(events_text(title, events, output.width()));
        } else {
            output.write(events_text(title, events));
        }
        return exit_code::done;
    };
}

}  // namespace abortscope::cli
