// SPDX-License-Identifier: Apache-2.0
#include "reports/doctor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace abortscope {
namespace {

using Json = nlohmann::ordered_json;

std::string_view yes_no(bool value) {
    return value ? "yes" : "no";
}

std::string host_line(const Diagnosis& diagnosis) {
    const CpuFacts& cpu = diagnosis.host.cpu;
    std::string line = cpu.brand.empty() ? "a processor without CPUID" : cpu.brand;
    if (cpu.microarch != nullptr) {
        line += fmt::format(" ({}, {})", cpu.microarch->title, cpu.microarch->name);
    }
    return fmt::format("{}, Linux {}\n", line, diagnosis.host.kernel.release);
}

std::string truth_table(const Diagnosis& diagnosis) {
    constexpr const char* row = "{:<10} {:<11} {:<10} {}\n";
    const native::RtmProbe& probe = diagnosis.probe;
    const CpuFacts& cpu = diagnosis.host.cpu;
    const bool tried = probe.attempts > 0;
    std::string text = fmt::format(row, "", "advertised", "executes", "commits");
    text += fmt::format(
        row, "RTM", yes_no(cpu.rtm), tried ? yes_no(probe.executes) : "not tried",
        probe.executes ? fmt::format("{} of {}", probe.commits, probe.attempts) : "not tried");
    text += fmt::format(row, "HLE", yes_no(cpu.hle), "-", "-");
    text += fmt::format(row, "TSXLDTRK", yes_no(cpu.tsxldtrk), "-", "-");
    return text;
}

std::string check_lines(const Diagnosis& diagnosis) {
    constexpr const char* row = "{:<24} {:<8} {}\n";
    std::string text = fmt::format(row, "check", "state", "found");
    for (const Finding& finding : diagnosis.findings) {
        text += fmt::format(row, finding.title, name_of(finding.state), finding.value);
        if (!finding.remedy.empty()) text += fmt::format("{:<33} -> {}\n", "", finding.remedy);
    }
    return text;
}

/// One line for each counter that counts, and for each reason of those that do not.
std::string counter_lines(const Diagnosis& diagnosis) {
    std::string counting;
    std::vector<std::pair<std::string, std::string>> missing;  // reason, counters
    for (const CounterFinding& finding : diagnosis.counters) {
        if (finding.counts) {
            counting += fmt::format(" {}", name_of(finding.counter));
            continue;
        }
        auto known = std::find_if(missing.begin(), missing.end(),
                                  [&](const auto& entry) { return entry.first == finding.reason; });
        if (known == missing.end()) known = missing.insert(known, {finding.reason, ""});
        known->second += fmt::format(" {}", name_of(finding.counter));
    }
    std::string text =
        fmt::format("counters that count:{}\n", counting.empty() ? " none" : counting);
    for (const auto& [reason, counters] : missing) {
        text += fmt::format("absent:{}\n  {}\n", counters, reason);
    }
    return text;
}

std::string verdict_lines(const Diagnosis& diagnosis) {
    if (diagnosis.can_measure_rtm()) return "RTM works here, and its counters count.\n";
    if (!diagnosis.rtm.works()) {
        return fmt::format("RTM cannot be measured here: {}.\n  -> {}\n", diagnosis.rtm.reason,
                           diagnosis.rtm.remedy);
    }
    return "RTM works here, but its counters do not: what follows from the abort statuses (rates, "
           "causes)\nis counted in software; what only a counter knows is absent.\n";
}

}  // namespace

std::string doctor_text(const Diagnosis& diagnosis) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", host_line(diagnosis), truth_table(diagnosis),
                       check_lines(diagnosis), diagnosis.plan.describe(), counter_lines(diagnosis),
                       verdict_lines(diagnosis));
}

std::string doctor_json(const Diagnosis& diagnosis) {
    const CpuFacts& cpu = diagnosis.host.cpu;
    Json json;
    json["host"] = {{"cpu", cpu.brand},
                    {"vendor", cpu.vendor},
                    {"family", cpu.family},
                    {"model", cpu.model},
                    {"stepping", cpu.stepping},
                    {"microarch", cpu.microarch != nullptr ? Json(cpu.microarch->name) : Json()},
                    {"kernel", diagnosis.host.kernel.release}};
    const native::RtmProbe& probe = diagnosis.probe;
    json["rtm"] = {{"advertised", cpu.rtm},
                   {"executes", probe.attempts > 0 ? Json(probe.executes) : Json()},
                   {"commits", probe.executes ? Json(probe.commits) : Json()},
                   {"attempts", probe.attempts},
                   {"works", diagnosis.rtm.works()},
                   {"reason", diagnosis.rtm.reason},
                   {"remedy", diagnosis.rtm.remedy}};
    json["checks"] = Json::array();
    for (const Finding& finding : diagnosis.findings) {
        json["checks"].push_back({{"id", finding.id},
                                  {"state", name_of(finding.state)},
                                  {"value", finding.value},
                                  {"remedy", finding.remedy}});
    }
    json["counters"] = Json::array();
    for (const CounterFinding& finding : diagnosis.counters) {
        json["counters"].push_back({{"name", name_of(finding.counter)},
                                    {"counts", finding.counts},
                                    {"reason", finding.reason}});
    }
    json["plan"] = Json::array();
    for (std::size_t pass = 0; pass < diagnosis.plan.passes.size(); ++pass) {
        Json names = Json::array();
        for (std::size_t i = 0; i < counter_count; ++i) {
            if (diagnosis.plan.pass_of(counter_at(i)) == pass) names.push_back(counter_names[i]);
        }
        json["plan"].push_back(std::move(names));
    }
    json["can_measure_rtm"] = diagnosis.can_measure_rtm();
    return json.dump(2) + "\n";
}

}  // namespace abortscope
