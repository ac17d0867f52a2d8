// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace abortscope {
namespace {

/// Sets of counters that mean more together.
enum class Kin : std::uint8_t { outcomes, signals, categories, cycles };

struct KinRow {
    Counter counter;
    Kin kin;
};

constexpr std::array<KinRow, 15> kin_table{{
    {Counter::tx_start, Kin::outcomes},
    {Counter::tx_commit, Kin::outcomes},
    {Counter::tx_abort, Kin::outcomes},
    {Counter::tx_conflict, Kin::signals},
    {Counter::tx_capacity, Kin::signals},
    {Counter::tx_capacity_read, Kin::signals},
    {Counter::tx_capacity_write, Kin::signals},
    {Counter::cycles, Kin::cycles},
    {Counter::cycles_t, Kin::cycles},
    {Counter::cycles_ct, Kin::cycles},
    {Counter::abort_mem, Kin::categories},
    {Counter::abort_timer, Kin::categories},
    {Counter::abort_unfriendly, Kin::categories},
    {Counter::abort_memtype, Kin::categories},
    {Counter::abort_events, Kin::categories},
}};

struct Budget {
    unsigned general = 0;    ///< counters of a logical processor
    std::uint32_t mask = 0;  ///< of which may be used
    unsigned most = 0;       ///< events in one pass
    std::string reason;
};

Budget budget_of(const HostDescription& host, const PlanOptions& options) {
    Budget budget;
    budget.general = general_counters_of(host.cpu);
    budget.mask = (1u << budget.general) - 1;
    const PmuFacts* pmu = host.core_pmu();
    // Linux: as soon as an event lands on counter 3 the kernel sets MSR_TSX_FORCE_ABORT; if it is
    // told not to (allow_tsx_force_abort = 0), it withholds the counter instead.
    const bool withheld = pmu != nullptr && pmu->allow_tsx_force_abort == false;
    if (host.cpu.tsx_force_abort && !host.cpu.rtm_always_abort &&
        (!options.allow_force_abort || withheld)) {
        budget.mask &= 0b111u;
        budget.reason = withheld ? "TSX force-abort: the kernel withholds counter 3"
                                 : "TSX force-abort: a fourth would make every transaction abort; "
                                   "--allow-force-abort lifts this";
    }
    budget.most = static_cast<unsigned>(std::popcount(budget.mask));
    if (options.most_per_pass != 0 && options.most_per_pass < budget.most) {
        budget.most = options.most_per_pass;
        if (budget.reason.empty()) {
            budget.reason = "larger groups do not fit: something else holds counters";
        }
    }
    return budget;
}

/// Whether each event can have a counter of its own. Few events, few counters: backtracking.
bool assignable(std::span<const EventRequest> events, std::uint32_t free) {
    while (!events.empty() && events.front().general_counters == 0) events = events.subspan(1);
    if (events.empty()) return true;
    for (std::uint32_t left = events.front().general_counters & free; left != 0; left &= left - 1) {
        const std::uint32_t counter = left & (~left + 1);
        if (assignable(events.subspan(1), free & ~counter)) return true;
    }
    return false;
}

bool fits(const CounterPass& pass, std::span<const EventRequest> more, const Budget& budget) {
    std::vector<EventRequest> all = pass.hardware;
    all.insert(all.end(), more.begin(), more.end());
    const auto general = std::count_if(all.begin(), all.end(), [](const EventRequest& event) {
        return event.general_counters != 0;
    });
    return static_cast<unsigned>(general) <= budget.most && assignable(all, budget.mask);
}

/// Into the first pass that has room, or a new one; false if even an empty one has none.
bool place(std::vector<CounterPass>& passes, std::span<const EventRequest> events,
           const Budget& budget) {
    for (CounterPass& pass : passes) {
        if (fits(pass, events, budget)) {
            pass.hardware.insert(pass.hardware.end(), events.begin(), events.end());
            return true;
        }
    }
    if (!fits({}, events, budget)) return false;
    passes.emplace_back().hardware.assign(events.begin(), events.end());
    return true;
}

}  // namespace

std::optional<std::size_t> CounterPlan::pass_of(Counter counter) const {
    const auto counts = [counter](const EventRequest& event) { return event.counter == counter; };
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
        if (std::any_of(passes[pass].hardware.begin(), passes[pass].hardware.end(), counts) ||
            std::any_of(passes[pass].software.begin(), passes[pass].software.end(), counts) ||
            std::find(passes[pass].usage.begin(), passes[pass].usage.end(), counter) !=
                passes[pass].usage.end()) {
            return pass;
        }
    }
    return std::nullopt;
}

std::string CounterPlan::describe() const {
    std::string text;
    if (general_counters != 0) {
        text = fmt::format("counters: {} of {} general counters usable", usable_counters,
                           general_counters);
        if (!budget_reason.empty()) text += fmt::format(" ({})", budget_reason);
    }
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
        if (!text.empty()) text += '\n';
        text += fmt::format("pass {} of {}:", pass + 1, passes.size());
        for (const auto* events : {&passes[pass].hardware, &passes[pass].software}) {
            for (const EventRequest& event : *events) {
                text += fmt::format(" {}{}", name_of(event.counter), event.user_only ? ":u" : "");
            }
        }
        for (const Counter counter : passes[pass].usage) {
            text += fmt::format(" {}:getrusage", name_of(counter));
        }
    }
    return text;
}

CounterPlan plan_counters(std::span<const Counter> asked, const HostDescription& host,
                          const RtmVerdict& rtm, const PlanOptions& options) {
    const Budget budget = budget_of(host, options);
    CounterPlan plan;
    plan.general_counters = budget.general;
    plan.usable_counters = budget.most;
    plan.budget_reason = budget.reason;
    plan.absent_reasons.fill(not_asked_for);

    std::vector<EventRequest> software;
    std::array<std::vector<EventRequest>, 4> kins;
    for (std::size_t i = 0; i < counter_count; ++i) {
        const Counter counter = counter_at(i);
        if (std::find(asked.begin(), asked.end(), counter) == asked.end()) continue;
        auto answer = request_for(counter, host, rtm);
        if (const auto* missing = std::get_if<Unavailable>(&answer)) {
            plan.absent_reasons[i] = missing->reason;
            continue;
        }
        plan.absent_reasons[i].clear();
        auto& request = std::get<EventRequest>(answer);
        if (is_software(counter)) {
            software.push_back(std::move(request));
            continue;
        }
        const auto* row = std::find_if(kin_table.begin(), kin_table.end(),
                                       [&](const KinRow& kin) { return kin.counter == counter; });
        kins[static_cast<std::size_t>(row->kin)].push_back(std::move(request));
    }

    for (const auto& kin : kins) {
        if (kin.empty() || place(plan.passes, kin, budget)) continue;
        for (const EventRequest& event : kin) {
            if (!place(plan.passes, {&event, 1}, budget)) {
                plan.absent_reasons[index_of(event.counter)] =
                    fmt::format("none of the {} usable counters can count it", budget.most);
            }
        }
    }
    if (plan.passes.empty()) plan.passes.emplace_back();
    plan.passes.front().software = std::move(software);
    return plan;
}

}  // namespace abortscope
