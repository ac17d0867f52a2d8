// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "machines/native/rtm_instructions.hpp"
#include "machines/native/rtm_probe.hpp"
#include "profiler/counters/counter_group.hpp"
#include "profiler/counters/open_error.hpp"
#include "profiler/counters/reading_of.hpp"
#include "profiler/counters/thread_usage.hpp"

namespace abortscope {
namespace {

constexpr unsigned test_transactions = 1'000;
constexpr unsigned test_loop = 100'000;
constexpr const char* opens_but_showed = "opens, but showed";

/// Counters whose events happen in the kernel: with exclude_kernel they open and stay at zero.
bool counts_in_kernel_only(Counter counter) {
    return counter == Counter::context_switches || counter == Counter::cpu_migrations;
}

/// The least that the counter must show for `work`. Half of what was done, since a transaction may
/// be cut by the counter's own start and stop; 0 where the loop cannot promise anything.
std::uint64_t least_expected(Counter counter, const KnownWork& work) {
    switch (counter) {
        case Counter::tx_start:
            return work.starts / 2;
        case Counter::tx_commit:
            return work.commits / 2;
        case Counter::tx_abort:
            return work.aborts / 2;
        case Counter::cycles_t:
            return work.starts == 0 ? 0 : 1;
        case Counter::cycles_ct:
            return work.commits == 0 ? 0 : 1;
        case Counter::cycles:
        case Counter::task_clock_ns:
            return 1;
        default:
            return 0;
    }
}

/// Counters of transactions that the loop cannot make count: their zero is worth what tx_start's
/// count is worth.
bool rests_on_starts(Counter counter) {
    return counter >= Counter::tx_conflict && counter <= Counter::abort_events;
}

void distrust_zeros(CounterPlan& plan) {
    const std::string& start = plan.absent_reasons[index_of(Counter::tx_start)];
    if (start.find(opens_but_showed) == std::string::npos) return;
    for (CounterPass& pass : plan.passes) {
        std::erase_if(pass.hardware, [&](const EventRequest& event) {
            if (!rests_on_starts(event.counter)) return false;
            plan.absent_reasons[index_of(event.counter)] = "not believed, since tx_start " + start;
            return true;
        });
    }
}

/// Counters that need no permission of perf_event_open move over to getrusage.
bool fall_back_to_usage(CounterPass& pass, Counter counter) {
    if (!ThreadUsage{}.value(counter)) return false;
    pass.usage.push_back(counter);
    return true;
}

void settle_permissions(CounterPlan& plan, const HostDescription& host, PerfSystem& perf) {
    for (CounterPass& pass : plan.passes) {
        for (auto* events : {&pass.hardware, &pass.software}) {
            std::erase_if(*events, [&](EventRequest& event) {
                const int error = try_to_open(event, perf);
                if (error == 0) return false;
                if (!fall_back_to_usage(pass, event.counter)) {
                    plan.absent_reasons[index_of(event.counter)] = explain_open_error(error, host);
                }
                return true;
            });
        }
    }
}

/// Whether the group's events, each of which opens alone, could not be had together.
bool does_not_fit(std::span<const Sample> samples) {
    const bool refused = std::any_of(samples.begin(), samples.end(), [](const Sample& sample) {
        return sample.state == SampleState::open_failed &&
               (sample.error == EINVAL || sample.error == ENOSPC);
    });
    const bool starved = std::any_of(samples.begin(), samples.end(), [](const Sample& sample) {
        return sample.state == SampleState::never_ran;
    });
    return samples.size() > 1 && (refused || starved);
}

/// Runs the loop under the events; false if they do not fit together and smaller groups are left
/// to try.
bool try_group(std::vector<EventRequest>& events, CounterPlan& plan, const HostDescription& host,
               PerfSystem& perf, const std::function<KnownWork()>& work, bool smallest) {
    if (events.empty()) return true;
    CounterGroup group(perf);
    group.open(events);
    group.enable();
    const KnownWork done = work();
    group.disable();
    std::array<Sample, CounterGroup::most_events> buffer{};
    const auto samples = std::span(buffer).first(events.size());
    group.read(samples);
    if (!smallest && does_not_fit(samples)) return false;

    std::size_t position = 0;
    std::erase_if(events, [&](const EventRequest& event) {
        const Reading reading = reading_of(samples[position++], host);
        std::string& reason = plan.absent_reasons[index_of(event.counter)];
        const std::uint64_t least = least_expected(event.counter, done);
        if (!reading.value) {
            reason = reading.absent_reason;
        } else if (*reading.value < least) {
            reason = fmt::format("{} {} in a self-test of at least {}: {} does not really count it",
                                 opens_but_showed, *reading.value, least,
                                 host.cpu.hypervisor ? "this virtual machine's PMU" : "this PMU");
        }
        return !reason.empty();
    });
    return true;
}

bool try_plan(CounterPlan& plan, const HostDescription& host, PerfSystem& perf,
              const std::function<KnownWork()>& work, bool smallest) {
    settle_permissions(plan, host, perf);
    for (CounterPass& pass : plan.passes) {
        if (!try_group(pass.hardware, plan, host, perf, work, smallest)) return false;
        // The kernel's own events always fit.
        try_group(pass.software, plan, host, perf, work, true);
    }
    distrust_zeros(plan);
    // A pass whose events have all gone needs no run of its own.
    for (std::size_t pass = plan.passes.size(); pass-- > 1;) {
        if (plan.passes[pass].hardware.empty()) {
            plan.passes.erase(plan.passes.begin() + static_cast<std::ptrdiff_t>(pass));
        }
    }
    return true;
}

}  // namespace

int try_to_open(EventRequest& event, PerfSystem& perf) {
    int descriptor = perf.open(attributes_of(event), 0, -1, -1);
    if ((descriptor == -EACCES || descriptor == -EPERM) && !counts_in_kernel_only(event.counter)) {
        EventRequest user_only = event;
        user_only.user_only = true;
        const int second = perf.open(attributes_of(user_only), 0, -1, -1);
        if (second >= 0) {
            event = user_only;
            descriptor = second;
        }
    }
    if (descriptor < 0) return -descriptor;
    perf.close(descriptor);
    return 0;
}

KnownWork self_test_work(bool rtm_works) {
    for (unsigned i = 0; i < test_loop; ++i) asm volatile("" ::"r"(i));
    KnownWork work;
    if (!rtm_works) return work;
    for (unsigned i = 0; i < test_transactions; ++i) {
        ++work.starts;
        if (native::xbegin().is_started()) {
            if (i % 2 == 0) native::xabort<rtm::code::state_query>();
            native::xend();
            ++work.commits;
        } else {
            ++work.aborts;
        }
    }
    return work;
}

CounterPlan tested_plan(std::span<const Counter> asked, const HostDescription& host,
                        const RtmVerdict& rtm, const PlanOptions& options, PerfSystem& perf,
                        const std::function<KnownWork()>& work) {
    PlanOptions smaller = options;
    std::vector<Counter> with_start(asked.begin(), asked.end());
    if (std::any_of(asked.begin(), asked.end(), rests_on_starts)) {
        with_start.push_back(Counter::tx_start);
    }
    for (;;) {
        CounterPlan plan = plan_counters(with_start, host, rtm, smaller);
        // Groups of one cannot be made smaller: what they cannot do is absent.
        const bool smallest = plan.usable_counters <= 1;
        if (try_plan(plan, host, perf, work, smallest)) return plan;
        smaller.most_per_pass = plan.usable_counters - 1;
    }
}

CounterPlan tested_plan(std::span<const Counter> asked, const PlanOptions& options) {
    const HostDescription host = describe_host();
    const RtmVerdict rtm = judge_rtm(host, native::rtm_probe());
    return tested_plan(asked, host, rtm, options, kernel_perf(),
                       [&] { return self_test_work(rtm.works()); });
}

}  // namespace abortscope
