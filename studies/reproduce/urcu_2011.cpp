// SPDX-License-Identifier: Apache-2.0
//
// "call_rcu: use futex for wakeup scheme", lttng-dev, 2011-06: the red-black tree test with one
// writer, updates per second, by how call_rcu's worker is woken and where it runs. The polling rows
// are liburcu commit c1d2c60's. The thread's futex was never armed, so its worker polled, too.
//
// Beside it an emulation of the wake-up alone (a program of ours without a grace period, run on a
// computer of 2 CPUs), which takes the sleep out of the mutex and so tells what the gain came from.
#include <fmt/format.h>

#include <algorithm>

#include "primitives/wake_up_event.hpp"
#include "studies/reproduce/publication.hpp"

namespace abortscope::reproduce {
namespace {

struct Updates {
    std::string_view wake_up;
    std::string_view form;  ///< as the scenario calls it
    std::string_view worker;
    unsigned cpus;  ///< 0: all
    double per_s;
};

constexpr Updates thread[] = {
    {"condvar", "condvar-in-mutex", "anywhere", 0, 129},
    {"condvar", "condvar-in-mutex", "with its caller", 1, 546},
    {"futex", "futex-never-armed", "with its caller", 1, 55754},
    {"polling", "polling", "anywhere", 0, 38365},
    {"polling", "polling", "with its caller", 1, 54219},
};
constexpr Updates emulation[] = {
    {"condvar, sleep in mutex", "condvar-in-mutex", "2 CPUs", 2, 277'000},
    {"condvar, sleep in mutex", "condvar-in-mutex", "1 CPU", 1, 237'000},
    {"condvar, sleep after it", "condvar", "2 CPUs", 2, 660'000},
    {"futex, never armed", "futex-never-armed", "2 CPUs", 2, 651'000},
    {"futex", "futex", "2 CPUs", 2, 656'000},
    {"polling", "polling", "2 CPUs", 2, 664'000},
};

/// The worker sleeps 10 ms a pass. Where producers wait for that, each pass lets few updates
/// through, and many are needed.
constexpr std::int64_t usual_ms = 200;
constexpr std::int64_t sleepers_ms = 1000;
constexpr std::int64_t shortest_ms = 50;

std::int64_t duration_ms_of(std::string_view form, std::int64_t divisor) {
    const std::int64_t full = form == "condvar-in-mutex" ? sleepers_ms : usual_ms;
    return std::max(shortest_ms, full / divisor);
}

constexpr unsigned anywhere = 0;
constexpr unsigned with_caller = 1;

std::string figure(std::string_view set, std::string_view form, unsigned cpus) {
    return fmt::format("{} {} {}", set, form, cpus);
}
std::string in_thread(std::string_view form, unsigned cpus) {
    return figure("thread", form, cpus);
}
std::string emulated(std::string_view form) {
    return figure("emulation", form, 2);
}

constexpr double two_orders = 90;  ///< the thread's smallest is 99

Judgement condvar_is_slowest_anywhere(const Measured& measured) {
    const double times =
        measured.ratio(in_thread("polling", anywhere), in_thread("condvar-in-mutex", anywhere));
    return {times >= two_orders, fmt::format("polling {:.0f} times", times)};
}

Judgement condvar_is_slowest_with_its_caller(const Measured& measured) {
    const std::string condvar = in_thread("condvar-in-mutex", with_caller);
    const double futex = measured.ratio(in_thread("futex-never-armed", with_caller), condvar);
    const double polling = measured.ratio(in_thread("polling", with_caller), condvar);
    return {std::min(futex, polling) >= two_orders,
            fmt::format("futex {:.0f} times, polling {:.0f}", futex, polling)};
}

Judgement pinning_helps_condvar(const Measured& measured) {
    const double times = measured.ratio(in_thread("condvar-in-mutex", with_caller),
                                        in_thread("condvar-in-mutex", anywhere));
    return {times > 1.1, fmt::format("{:.1f} times", times)};
}

Judgement pinning_helps_polling(const Measured& measured) {
    const double times =
        measured.ratio(in_thread("polling", with_caller), in_thread("polling", anywhere));
    return {times > 1.1, fmt::format("{:.2f} times", times)};
}

Judgement futex_is_polling(const Measured& measured) {
    const double times = measured.ratio(in_thread("futex-never-armed", with_caller),
                                        in_thread("polling", with_caller));
    return {times > 0.95 && times < 1.05, fmt::format("{:.3f} times", times)};
}

Judgement gain_is_the_sleeps(const Measured& measured) {
    const double inside = measured.ratio(emulated("condvar-in-mutex"), emulated("condvar"));
    const double after = measured.ratio(emulated("condvar"), emulated("futex"));
    return {inside < 0.5 && after > 0.9,
            fmt::format("sleep in the mutex {:.3f} of after it, which is {:.2f} of the futex's",
                        inside, after)};
}

Judgement arming_costs_nothing(const Measured& measured) {
    const double times = measured.ratio(emulated("futex-never-armed"), emulated("futex"));
    return {times > 0.95 && times < 1.05, fmt::format("{:.3f} times", times)};
}

constexpr std::string_view short_updates =
    "An update takes about 1 us here, and 18 us or more there: allocator, grace periods of "
    "liburcu's flavours and the tree's memory cost more than the model charges, so that more "
    "updates fit between two sleeps under the mutex.";

constexpr Shape shapes[] = {
    {"a", "a condvar with the sleep in its mutex is two orders slower, worker anywhere",
     condvar_is_slowest_anywhere, short_updates},
    {"a'", "and with the worker on its caller's CPU", condvar_is_slowest_with_its_caller,
     short_updates},
    {"b", "the condvar is faster with the worker on its caller's CPU (4.2 times)",
     pinning_helps_condvar, "A woken producer waits for no CPU wherever the worker runs."},
    {"b'", "so is polling (1.4 times)", pinning_helps_polling,
     "Freed nodes are warm in their allocator's CPU there. Here memory that another CPU freed "
     "costs a transfer at most, and a worker of its own CPU runs beside the writer, which gains "
     "more than that."},
    {"c", "the thread's futex is polling (within 5 %; published 3)", futex_is_polling,
     "Both sleep 10 ms a pass and are never woken: what differs is where passes fall, and a short "
     "run has few."},
    {"d", "what the futex gained is the sleep's: outside the mutex a condvar is as fast",
     gain_is_the_sleeps,
     "A producer that takes an uncontended mutex at each call, and signals, costs more beside a "
     "short update."},
    {"e", "whether the futex is armed makes no difference", arming_costs_nothing,
     "Wake-ups cost more than 5 % of the updates."},
};

}  // namespace

Publication urcu_2011(std::int64_t divisor) {
    Publication publication;
    publication.name = "urcu-2011";
    publication.title = "How call_rcu wakes its worker";
    publication.source = "lttng-dev 2011-06, rbtree test, 0 readers, 1 writer; liburcu c1d2c60";
    publication.setting = "model:haswell, urcu-rbtree, 1 writer and 1 call_rcu worker";
    publication.repeats = 3;
    const auto table_of = [&](std::string title, std::string_view set, std::string_view baseline,
                              unsigned baseline_cpus, auto& rows, std::string note) {
        Table table{.title = std::move(title),
                    .labels = {"wake-up", "worker"},
                    .reference = "",
                    .value = "updates",
                    .shows_spread = true,
                    .rows = {},
                    .note = std::move(note)};
        for (const Updates& row : rows) {
            const auto form = std::find_if(wake_up_forms.begin(), wake_up_forms.end(),
                                           [&](const auto& each) { return each.name == row.form; });
            TrialSpec spec = trial_of("urcu-rbtree", "model:haswell", "futex-mutex", "none", 2,
                                      {{"duration_ms", duration_ms_of(row.form, divisor)},
                                       {"form", form - wake_up_forms.begin()}});
            spec.cpus = row.cpus;
            const std::string name = figure(set, row.form, row.cpus);
            publication.figures.push_back({.name = name,
                                           .published = row.per_s,
                                           .published_sd = {},
                                           .sources = {{publication.trial(spec), "updates"}},
                                           .of = operations_per_s});
            table.rows.push_back({{std::string(row.wake_up), std::string(row.worker)},
                                  figure(set, baseline, baseline_cpus),
                                  name});
        }
        publication.tables.push_back(std::move(table));
    };
    table_of("Updates per second", "thread", "condvar-in-mutex", anywhere, thread,
             "ratio: to the first line. The thread's futex was never armed: its worker polled.");
    table_of("Updates per second, emulation of the wake-up", "emulation", "condvar-in-mutex", 2,
             emulation,
             "ratio: to the first line. The published ones are of a small program of ours without "
             "grace periods or a tree, run on hardware; measured is urcu-rbtree.");
    publication.shapes.assign(std::begin(shapes), std::end(shapes));
    return publication;
}

}  // namespace abortscope::reproduce
