// SPDX-License-Identifier: Apache-2.0
#include "profiler/command/stat.hpp"

#include <algorithm>
#include <array>

#include "machines/native/native_machine.hpp"
#include "profiler/counters/counter_group.hpp"
#include "profiler/counters/native_counters.hpp"
#include "profiler/counters/reading_of.hpp"
#include "profiler/counters/thread_usage.hpp"

namespace abortscope {
namespace {

using native::NativeMachine;

/// The counters of one pass on a process and what it starts.
class ProcessCounters {
  public:
    ProcessCounters(const CounterPlan& plan, std::size_t pass, pid_t process,
                    const HostDescription& host, PerfSystem& perf)
        : plan_(plan), pass_(plan.passes.at(pass)), host_(host), perf_(perf) {
        for (const auto* events : {&pass_.hardware, &pass_.software}) {
            for (const EventRequest& event : *events) open(event, process);
        }
    }
    ~ProcessCounters() {
        for (const Opened& event : events_) {
            if (event.descriptor >= 0) perf_.close(event.descriptor);
        }
    }
    ProcessCounters(const ProcessCounters&) = delete;
    ProcessCounters& operator=(const ProcessCounters&) = delete;

    /// What was counted since the last call. `usage` is known once the process has ended.
    Readings take(const rusage* usage) {
        Readings readings;
        for (std::size_t i = 0; i < counter_count; ++i) {
            const std::string& reason = plan_.absent_reasons[i];
            readings[i] = Reading::missing(reason.empty() ? counted_in_another_pass : reason);
        }
        for (Opened& event : events_) {
            readings[index_of(event.counter)] = reading_of(read(event), host_);
        }
        for (const Counter counter : pass_.usage) {
            readings[index_of(counter)] = usage_reading(counter, usage);
        }
        return readings;
    }

    /// Forgets what take() has given, so that the next one tells of the whole time.
    void from_the_start() {
        for (Opened& event : events_) event.last = {};
    }

  private:
    struct Totals {
        std::uint64_t value = 0;
        std::uint64_t enabled_ns = 0;
        std::uint64_t running_ns = 0;
    };
    struct Opened {
        Counter counter;
        int descriptor;
        int error;
        Totals last{};
    };

    void open(const EventRequest& event, pid_t process) {
        perf_event_attr attributes = attributes_of(event);
        attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        attributes.inherit = 1;
        attributes.disabled = 1;
        attributes.enable_on_exec = 1;
        const int answer = perf_.open(attributes, process, -1, -1);
        events_.push_back({event.counter, std::max(answer, -1), answer < 0 ? -answer : 0});
    }

    Sample read(Opened& event) {
        if (event.descriptor < 0) return {SampleState::open_failed, event.error};
        Totals now;
        const ssize_t bytes = perf_.read(event.descriptor, &now, sizeof(now));
        if (bytes < 0) return {SampleState::read_failed, static_cast<int>(-bytes)};
        if (bytes != sizeof(now)) return {SampleState::read_failed, 0};
        Sample sample;
        sample.value = now.value - event.last.value;
        sample.enabled_ns = now.enabled_ns - event.last.enabled_ns;
        sample.running_ns = now.running_ns - event.last.running_ns;
        // A program that has slept for a whole interval was never on a CPU: its zeros are real.
        const bool slept = sample.enabled_ns == 0 && event.last.enabled_ns != 0;
        sample.state =
            sample.running_ns == 0 && !slept ? SampleState::never_ran : SampleState::counted;
        event.last = now;
        return sample;
    }

    static Reading usage_reading(Counter counter, const rusage* usage) {
        if (usage == nullptr) {
            return Reading::missing("getrusage(2) tells it only at the program's end");
        }
        const auto microseconds = [](const timeval& time) {
            return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000u +
                   static_cast<std::uint64_t>(time.tv_usec);
        };
        const std::uint64_t cpu_ns =
            1'000 * (microseconds(usage->ru_utime) + microseconds(usage->ru_stime));
        return Reading::of(*ThreadUsage::of(*usage, cpu_ns).value(counter), Provenance::hw);
    }

    const CounterPlan& plan_;
    const CounterPass& pass_;
    const HostDescription& host_;
    PerfSystem& perf_;
    std::vector<Opened> events_;
};

std::optional<double> quotient(std::optional<double> a, std::optional<double> b) {
    if (!a || !b || *b == 0) return std::nullopt;
    return *a / *b;
}

}  // namespace

StatResult run_stat(const StatOptions& options, const CounterPlan& plan,
                    const HostDescription& host, PerfSystem& perf, const OnInterval& on_interval) {
    StatResult result;
    for (unsigned number = 0; number < options.repeat; ++number) {
        StatRun run;
        run.pass = number % plan.passes.size();
        Child child(options.command);
        ProcessCounters counters(plan, run.pass, child.pid(), host, perf);
        const SignalsForChild signals(child.pid());
        const std::uint64_t start_ns = NativeMachine::now_ns();
        result.exec_error = child.release();
        if (result.exec_error != 0) return result;

        std::optional<ChildEnd> end;
        for (std::uint64_t due_ns = options.interval_ns; !end; due_ns += options.interval_ns) {
            if (options.interval_ns == 0) {
                end = child.wait(~std::uint64_t{0});
                break;
            }
            const std::uint64_t passed_ns = NativeMachine::now_ns() - start_ns;
            end = child.wait(due_ns - std::min(due_ns, passed_ns));
            StatInterval interval{NativeMachine::now_ns() - start_ns,
                                  counters.take(end ? &end->usage : nullptr)};
            if (on_interval) on_interval(number, interval);
            run.intervals.push_back(std::move(interval));
        }
        run.elapsed_ns = NativeMachine::now_ns() - start_ns;
        run.end = *end;
        counters.from_the_start();
        run.readings = counters.take(&end->usage);
        if (result.status == 0) result.status = end->shell_status();
        const bool killed = end->signal != 0;
        result.runs.push_back(std::move(run));
        if (killed) break;
    }
    return result;
}

Readings mean_of(const std::vector<StatRun>& runs) {
    Readings means;
    for (std::size_t i = 0; i < counter_count; ++i) {
        std::vector<Reading> counted;
        for (const StatRun& run : runs) {
            if (run.readings[i].value) {
                counted.push_back(run.readings[i]);
            } else if (means[i].absent_reason.empty() ||
                       means[i].absent_reason == counted_in_another_pass) {
                means[i] = run.readings[i];
            }
        }
        if (counted.empty()) continue;
        means[i] = sum_of(counted);
        *means[i].value = (*means[i].value + counted.size() / 2) / counted.size();
    }
    return means;
}

std::vector<DerivedNumber> derived_numbers(const Readings& readings) {
    const auto value = [&](Counter counter) -> std::optional<double> {
        const auto& found = readings[index_of(counter)].value;
        return found ? std::optional(static_cast<double>(*found)) : std::nullopt;
    };
    const auto cycles = value(Counter::cycles);
    const auto inside = value(Counter::cycles_t);
    const auto committed = value(Counter::cycles_ct);
    std::optional<double> wasted;
    if (inside && committed) wasted = std::max(*inside, *committed) - *committed;
    const auto percent = [](std::optional<double> ratio) {
        return ratio ? std::optional(100 * *ratio) : std::nullopt;
    };
    return {
        {"abort_rate", "", "aborts per transaction begun",
         quotient(value(Counter::tx_abort), value(Counter::tx_start))},
        {"transactional_cycles_pct", "%", "cycles inside transactions, of all",
         percent(quotient(inside, cycles))},
        {"wasted_cycles", "cycles", "inside transactions that aborted", wasted},
        {"wasted_cycles_pct", "%", "the same, of all cycles", percent(quotient(wasted, cycles))},
        {"cycles_per_transaction", "cycles", "cycles inside transactions per transaction begun",
         quotient(inside, value(Counter::tx_start))},
    };
}

}  // namespace abortscope
