// SPDX-License-Identifier: Apache-2.0
//
// "[PATCH] lib: use TM for OVS locks", ovs-dev, 2016-02-19: `test-cmap benchmark` with 2,000,000
// elements, 4 threads, batch 1, before and after the locks are elided. Milliseconds, one run each.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/numbers.hpp"
#include "studies/reproduce/publication.hpp"

namespace abortscope::reproduce {
namespace {

struct Timing {
    std::string_view block;  ///< batch: the cmap's first pass; cmap: its second; hmap
    std::string_view phase;
    std::array<double, 3> none_ms;  ///< at 2, 5 and 10 % mutation
    std::array<double, 3> tm_ms;
};

constexpr std::array<int, 3> levels{2, 5, 10};
constexpr Timing timings[] = {
    {"batch", "insert", {293, 296, 301}, {293, 298, 295}},
    {"batch", "iterate", {37, 38, 37}, {37, 38, 37}},
    {"batch", "search", {197, 239, 355}, {186, 332, 380}},
    {"batch", "destroy", {177, 162, 148}, {166, 159, 145}},
    {"cmap", "insert", {284, 285, 286}, {283, 284, 288}},
    {"cmap", "iterate", {38, 37, 37}, {38, 37, 37}},
    {"cmap", "search", {121, 143, 240}, {120, 126, 133}},
    {"cmap", "destroy", {168, 163, 146}, {245, 159, 148}},
    {"hmap", "insert", {141, 130, 133}, {164, 128, 145}},
    {"hmap", "iterate", {138, 140, 139}, {134, 134, 134}},
    {"hmap", "search", {780, 1577, 2087}, {414, 489, 575}},
    {"hmap", "destroy", {126, 117, 94}, {122, 108, 87}},
};

/// `perf report` of `perf record` over the three elided runs: thousands of samples.
struct Samples {
    std::string_view event;
    std::array<double, 3> thousands;
    std::optional<double> (*of)(const Measurement&);
};

template <Counter counter>
std::optional<double> reading(const Measurement& row) {
    return row.counters[index_of(counter)].value;
}

constexpr Samples perf[] = {
    {"tx-start", {10, 14, 16}, reading<Counter::tx_start>},
    {"tx-commit", {10, 14, 16}, reading<Counter::tx_commit>},
    {"tx-abort", {7, 13, 14}, reading<Counter::tx_abort>},
    {"tx-conflict", {7, 13, 14}, reading<Counter::tx_conflict>},
};

std::string figure(std::string_view block, std::string_view phase, int level, bool elided) {
    return fmt::format("{} {} {} {}", block, phase, level, elided ? "tm" : "none");
}
std::string event_figure(std::string_view event, int level) {
    return fmt::format("{} {}", event, level);
}

/// How many times faster the phase is with elision.
double gain(const Measured& measured, const Timing& timing, int level) {
    return measured.ratio(figure(timing.block, timing.phase, level, false),
                          figure(timing.block, timing.phase, level, true));
}

constexpr Timing hmap_search = timings[10];
static_assert(hmap_search.block == "hmap" && hmap_search.phase == "search");

/// How many times longer hmap's search takes at the level than at 2 %.
double slow_down(const Measured& measured, int level, bool elided) {
    return measured.ratio(figure("hmap", "search", level, elided),
                          figure("hmap", "search", levels[0], elided));
}

/// How many times longer hmap's search takes than cmap's.
double distance(const Measured& measured, int level, bool elided) {
    return measured.ratio(figure("hmap", "search", level, elided),
                          figure("cmap", "search", level, elided));
}

Judgement only_hmap_search_gains(const Measured& measured) {
    bool holds = true;
    std::array<double, 3> gains{};
    std::array<double, 3> others{};
    for (std::size_t i = 0; i < levels.size(); ++i) {
        gains[i] = gain(measured, hmap_search, levels[i]);
        for (const Timing& timing : timings) {
            if (timing.block == "hmap" && timing.phase == "search") continue;
            others[i] = std::max(others[i], gain(measured, timing, levels[i]));
        }
        holds = holds && gains[i] >= 1.5 && others[i] - 1 < (gains[i] - 1) / 2;
        if (i > 0) holds = holds && gains[i] > gains[i - 1];
    }
    return {holds, fmt::format("{:.2f}, {:.2f}, {:.2f} times; the best of the others {:.2f}, "
                               "{:.2f}, {:.2f}",
                               gains[0], gains[1], gains[2], others[0], others[1], others[2])};
}

Judgement mutation_slows_the_plain_lock_more(const Measured& measured) {
    bool holds = true;
    for (const int level : {5, 10}) {
        holds = holds && slow_down(measured, level, true) > 1 &&
                slow_down(measured, level, false) > slow_down(measured, level, true);
    }
    return {holds, fmt::format("plain {:.2f} and {:.2f} times, elided {:.2f} and {:.2f}",
                               slow_down(measured, 5, false), slow_down(measured, 10, false),
                               slow_down(measured, 5, true), slow_down(measured, 10, true))};
}

Judgement slow_downs_agree(const Measured& measured) {
    Judgement judgement = mutation_slows_the_plain_lock_more(measured);
    judgement.holds = agrees(slow_down(measured, 5, false), 1577.0 / 780) &&
                      agrees(slow_down(measured, 10, false), 2087.0 / 780) &&
                      agrees(slow_down(measured, 5, true), 489.0 / 414) &&
                      agrees(slow_down(measured, 10, true), 575.0 / 414);
    return judgement;
}

Judgement elision_brings_hmap_nearer(const Measured& measured) {
    bool holds = true;
    for (const int level : levels) {
        holds = holds && distance(measured, level, true) > 1 &&
                distance(measured, level, false) > distance(measured, level, true);
    }
    return {holds, fmt::format("plain {:.1f}, {:.1f}, {:.1f} times, elided {:.1f}, {:.1f}, {:.1f}",
                               distance(measured, 2, false), distance(measured, 5, false),
                               distance(measured, 10, false), distance(measured, 2, true),
                               distance(measured, 5, true), distance(measured, 10, true))};
}

Judgement distances_agree(const Measured& measured) {
    constexpr std::array<double, 3> plain{780.0 / 121, 1577.0 / 143, 2087.0 / 240};
    constexpr std::array<double, 3> elided{414.0 / 120, 489.0 / 126, 575.0 / 133};
    Judgement judgement = elision_brings_hmap_nearer(measured);
    judgement.holds = true;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        judgement.holds = judgement.holds &&
                          agrees(distance(measured, levels[i], false), plain[i]) &&
                          agrees(distance(measured, levels[i], true), elided[i]);
    }
    return judgement;
}

Judgement batch_search_may_lose(const Measured& measured) {
    std::array<double, 3> gains{};
    for (std::size_t i = 0; i < levels.size(); ++i) {
        gains[i] = measured.ratio(figure("batch", "search", levels[i], false),
                                  figure("batch", "search", levels[i], true));
    }
    return {*std::min_element(gains.begin(), gains.end()) < 0.95,
            fmt::format("{:.2f}, {:.2f}, {:.2f} times", gains[0], gains[1], gains[2])};
}

Judgement single_thread_phases_stay(const Measured& measured) {
    unsigned beyond = 0;
    double least = 1;
    double most = 1;
    for (const Timing& timing : timings) {
        if (timing.phase == "search") continue;
        for (const int level : levels) {
            const double change = gain(measured, timing, level);
            least = std::min(least, change);
            most = std::max(most, change);
            if (change < 0.85 || change > 1.15) ++beyond;
        }
    }
    return {beyond <= 1,
            fmt::format("{:.2f} to {:.2f} times; {} of 27 beyond 15 %", least, most, beyond)};
}

Judgement conflicts_explain_aborts(const Measured& measured) {
    bool holds = true;
    std::string evidence;
    for (const int level : levels) {
        const double share =
            measured.ratio(event_figure("tx-conflict", level), event_figure("tx-abort", level));
        holds = holds && share >= 0.95;
        evidence += fmt::format("{}{:.1f} %", evidence.empty() ? "" : ", ", share * 100);
    }
    return {holds, evidence + " of the aborts"};
}

Judgement aborts_grow(const Measured& measured) {
    bool holds = true;
    for (std::size_t i = 1; i < levels.size(); ++i) {
        for (const char* event : {"tx-start", "tx-abort", "tx-conflict"}) {
            holds = holds && measured.mean(event_figure(event, levels[i])) >
                                 measured.mean(event_figure(event, levels[i - 1]));
        }
    }
    return {holds, fmt::format("aborts a start {:.3f}, {:.3f}, {:.3f}",
                               measured.ratio("tx-abort 2", "tx-start 2"),
                               measured.ratio("tx-abort 5", "tx-start 5"),
                               measured.ratio("tx-abort 10", "tx-start 10"))};
}

Judgement starts_end(const Measured& measured) {
    bool holds = true;
    double worst = 0;
    for (const int level : levels) {
        const double starts = measured.mean(event_figure("tx-start", level));
        const double ends = measured.mean(event_figure("tx-commit", level)) +
                            measured.mean(event_figure("tx-abort", level));
        worst = std::max(worst, std::max(ends - starts, starts - ends) / starts);
        holds = holds && worst < 1e-6;
    }
    return {holds, fmt::format("the sides differ by {:.4f} % of the starts at most", worst * 100)};
}

constexpr std::string_view no_reason =
    "The thread has one run of each and no reason. Nothing in the model makes elided removals "
    "under one mutex slower than plain ones: its readers abort them seldom enough.";

constexpr Shape shapes[] = {
    {"a", "only hmap's search gains much, and the more the more is mutated", only_hmap_search_gains,
     "The plain lock's queueing is too cheap or elision too dear."},
    {"b", "mutation slows hmap's search, the plain lock's more than the elided one's",
     mutation_slows_the_plain_lock_more, "A removal's aborts cost more than its lock's waits."},
    {"b'", "by 2.0 and 2.7 times plain, 1.18 and 1.39 elided (5 and 10 % against 2 %)",
     slow_downs_agree,
     "The plain lock is in a convoy at 2 % already here: who waits for a mutex sleeps, and finds "
     "it "
     "taken again when it runs. So more mutation adds less. What keeps the published lock out of "
     "it "
     "at 2 % is not known; memory-level parallelism, which shortens the look-ups between two "
     "acquisitions, is one thing that the model lacks."},
    {"c", "hmap's search is slower than cmap's, with elision less so", elision_brings_hmap_nearer,
     "The cmap's search waits for memory longer than hmap's lock costs."},
    {"c'", "by 6.4, 11 and 8.7 times plain, 3.5, 3.9 and 4.3 elided", distances_agree,
     "Out-of-order execution: a look-up in the cmap waits here for each of its misses in turn, "
     "where a processor overlaps those of several keys, so that the cmap's search is too slow; "
     "and the plain lock's slow-down above."},
    {"d", "the batched search can be slower with elision", batch_search_may_lose, no_reason},
    {"e", "one-thread phases are within 15 %, but for one of 27 (noise)", single_thread_phases_stay,
     "They take no lock; whatever differs is not elision."},
    {"f", "conflicts explain the aborts", conflicts_explain_aborts,
     "Other causes abort: see the causes of the rows (--csv)."},
    {"g", "starts, aborts and conflicts grow with mutation", aborts_grow,
     "Removals do not reach more transactions in flight."},
    {"h", "start = commit + abort, which the thread's samples violate", starts_end,
     "The counters contradict each other."},
};

}  // namespace

Publication ovs_2016(std::int64_t divisor) {
    const std::int64_t n = std::max<std::int64_t>(1, 1'000'000 / divisor);
    Publication publication;
    publication.name = "ovs-2016";
    publication.title = "Open vSwitch's locks elided";
    publication.source = "ovs-dev 2016-02-19, test-cmap benchmark, one run each";
    publication.setting = fmt::format("model:haswell, 4 threads, n {}, batch 1, policy ovs2016",
                                      with_thousands(static_cast<std::uint64_t>(n)));
    publication.repeats = 1;

    const auto trial = [&](bool is_hmap, int level, bool elided) {
        return publication.trial(trial_of(is_hmap ? "ovs-hmap" : "ovs-cmap", "model:haswell",
                                          is_hmap ? "fat-rwlock" : "futex-mutex",
                                          elided ? "ovs2016" : "none", 4,
                                          {{"n", n}, {"mutation_pct", level}}));
    };
    Table times{.title = "Times in ms",
                .labels = {"map", "phase", "mutation"},
                .reference = "plain",
                .value = "elided",
                .lower_is_better = true,
                .rows = {},
                .note = fmt::format("batch: the cmap's first pass, searched in batches. The "
                                    "thread's maps have 2,000,000 elements, these {}: hold "
                                    "ratios against ratios.",
                                    with_thousands(static_cast<std::uint64_t>(n)))};
    for (const Timing& timing : timings) {
        for (std::size_t i = 0; i < levels.size(); ++i) {
            TableRow row{{std::string(timing.block), std::string(timing.phase),
                          fmt::format("{} %", levels[i])},
                         figure(timing.block, timing.phase, levels[i], false),
                         figure(timing.block, timing.phase, levels[i], true)};
            const bool is_batch = timing.block == "batch";
            // The phases of the batched pass have names of their own.
            const std::string_view phase =
                !is_batch                   ? timing.phase
                : timing.phase == "insert"  ? std::string_view("batch_insert")
                : timing.phase == "iterate" ? std::string_view("batch_iterate")
                : timing.phase == "search"  ? std::string_view("batch_search")
                                            : std::string_view("batch_destroy");
            for (const bool elided : {false, true}) {
                publication.figures.push_back(
                    {.name = elided ? row.value : row.reference,
                     .published = elided ? timing.tm_ms[i] : timing.none_ms[i],
                     .published_sd = {},
                     .sources = {{trial(timing.block == "hmap", levels[i], elided), phase}},
                     .of = duration_ms});
            }
            times.rows.push_back(std::move(row));
        }
    }
    Table events{.title =
                     "perf record of the elided runs: thousands of samples; here thousands of "
                     "events",
                 .labels = {"mutation", "event"},
                 .reference = "",
                 .value = "count",
                 .rows = {},
                 .note =
                     "ratio: to tx-start. The thread's are numbers of samples, not of events: "
                     "each event has a sampling period of its own, so they can be compared "
                     "along a line and not between lines, and they violate start = commit + "
                     "abort."};
    for (std::size_t i = 0; i < levels.size(); ++i) {
        for (const Samples& samples : perf) {
            const std::string name = event_figure(samples.event, levels[i]);
            publication.figures.push_back({.name = name,
                                           .published = samples.thousands[i],
                                           .published_sd = {},
                                           .sources = {{trial(true, levels[i], true), ""},
                                                       {trial(false, levels[i], true), ""}},
                                           .of = samples.of,
                                           .scale = 1e-3});
            events.rows.push_back({{fmt::format("{} %", levels[i]), std::string(samples.event)},
                                   event_figure("tx-start", levels[i]),
                                   name});
        }
    }
    publication.tables = {std::move(times), std::move(events)};
    publication.shapes.assign(std::begin(shapes), std::end(shapes));
    return publication;
}

}  // namespace abortscope::reproduce
