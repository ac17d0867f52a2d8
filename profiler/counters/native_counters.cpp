// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/native_counters.hpp"

#include <algorithm>

#include "profiler/counters/reading_of.hpp"

namespace abortscope {
NativeCounters::NativeCounters(const CounterPlan& plan, std::size_t pass, unsigned workers,
                               const HostDescription& host, PerfSystem& perf)
    : plan_(plan), pass_(plan.passes.at(pass)), host_(host) {
    workers_.reserve(workers);
    for (unsigned worker = 0; worker < workers; ++worker) workers_.emplace_back(perf);
}

void NativeCounters::before(unsigned worker) noexcept {
    Worker& self = workers_[worker];
    if (!self.opened) {
        self.software.open(pass_.software);
        self.hardware.open(pass_.hardware);
        self.opened = true;
    }
    self.usage_before = ThreadUsage::now();
    self.software.enable();
    self.hardware.enable();
}

void NativeCounters::after(unsigned worker) noexcept {
    Worker& self = workers_[worker];
    // The CPU's counters first: the system calls of the others are not the phase's cycles.
    self.hardware.disable();
    self.software.disable();
    self.usage = ThreadUsage::now();
    self.hardware.read(std::span(self.hardware_samples).first(pass_.hardware.size()));
    self.software.read(std::span(self.software_samples).first(pass_.software.size()));
    self.took_part = true;
}

Readings NativeCounters::readings_of(const Worker& worker) const {
    Readings readings;
    for (std::size_t i = 0; i < counter_count; ++i) {
        readings[i] = Reading::missing(plan_.absent_reasons[i].empty() ? counted_in_another_pass
                                                                       : plan_.absent_reasons[i]);
    }
    for (std::size_t i = 0; i < pass_.hardware.size(); ++i) {
        readings[index_of(pass_.hardware[i].counter)] =
            reading_of(worker.hardware_samples[i], host_);
    }
    for (std::size_t i = 0; i < pass_.software.size(); ++i) {
        readings[index_of(pass_.software[i].counter)] =
            reading_of(worker.software_samples[i], host_);
    }
    for (const Counter counter : pass_.usage) {
        readings[index_of(counter)] = Reading::of(
            *worker.usage.value(counter) - *worker.usage_before.value(counter), Provenance::hw);
    }
    return readings;
}

std::vector<Readings> NativeCounters::take_workers() {
    std::vector<Readings> all;
    involuntary_switches_ = 0;
    for (Worker& worker : workers_) {
        if (!worker.took_part) continue;
        all.push_back(readings_of(worker));
        involuntary_switches_ +=
            worker.usage.involuntary_switches - worker.usage_before.involuntary_switches;
        worker.took_part = false;
    }
    return all;
}

Readings NativeCounters::take() {
    const std::vector<Readings> workers = take_workers();
    Readings sums;
    std::vector<Reading> column(workers.size());
    for (std::size_t i = 0; i < counter_count; ++i) {
        std::transform(workers.begin(), workers.end(), column.begin(),
                       [i](const Readings& readings) { return readings[i]; });
        sums[i] = sum_of(column);
    }
    return sums;
}

void merge_pass(Readings& into, const Readings& pass) {
    for (std::size_t i = 0; i < counter_count; ++i) {
        const bool says_something =
            pass[i].value || pass[i].absent_reason != counted_in_another_pass;
        if (says_something && !into[i].value) into[i] = pass[i];
    }
}

std::optional<std::int64_t> outcome_residue(const Readings& readings) {
    const auto& start = readings[index_of(Counter::tx_start)].value;
    const auto& commit = readings[index_of(Counter::tx_commit)].value;
    const auto& abort = readings[index_of(Counter::tx_abort)].value;
    if (!start || !commit || !abort) return std::nullopt;
    return static_cast<std::int64_t>(*start - *commit - *abort);
}

}  // namespace abortscope
