// SPDX-License-Identifier: Apache-2.0
//
// "locking/rwsem: Optimize down_read_trylock()", LKML, 2019-02: locktest with read trylocks alone
// and a load of 10, thousands of acquisitions per second of all threads. x86-64, and one socket of
// a two-socket ThunderX2.
#include <fmt/format.h>

#include <algorithm>

#include "studies/reproduce/publication.hpp"

namespace abortscope::reproduce {
namespace {

struct Rate {
    std::string_view cpu;
    unsigned threads;
    double read_first;  ///< before: load, test, compare-and-swap
    double cas_first;   ///< after: compare-and-swap from 0 at once
};

constexpr Rate rates[] = {
    {"x86-64", 1, 14496, 14716}, {"x86-64", 2, 8644, 8453},  {"x86-64", 4, 6799, 6983},
    {"x86-64", 8, 5664, 7190},   {"arm64", 1, 23676, 24488}, {"arm64", 2, 7697, 9502},
    {"arm64", 4, 4945, 3440},    {"arm64", 8, 2641, 1603},
};

/// Where the thread's loop runs here, and what it does beside its atomics. A load of 10 was
/// published and not how long it is: on x86-64 35 ns, what it took from the rate at one thread, and
/// 10 of 69 ns a round are left beside two uncontended atomics; on arm64, where 10 relaxes are
/// hardly more than 10 instructions, 20 ns of 42.
struct Loop {
    std::string_view cpu;
    std::string_view machine;
    std::int64_t load_ns;
    std::int64_t gap_ns;
};
constexpr Loop loops[] = {{"x86-64", "model:skylake-sp", 35, 10},
                          {"arm64", "model:thunderx2", 20, 0}};

constexpr const Loop& loop_of(std::string_view cpu) {
    return cpu == loops[0].cpu ? loops[0] : loops[1];
}

std::string figure(std::string_view cpu, unsigned threads, std::string_view form) {
    return fmt::format("{} {} {}", cpu, threads, form);
}

double after_to_before(const Measured& measured, std::string_view cpu, unsigned threads) {
    return measured.ratio(figure(cpu, threads, "cas"), figure(cpu, threads, "read"));
}

/// The rate at 8 threads to that at one.
double left_at_eight(const Measured& measured, std::string_view cpu, std::string_view form) {
    return measured.ratio(figure(cpu, 8, form), figure(cpu, 1, form));
}

Judgement rates_fall(const Measured& measured) {
    bool holds = true;
    for (const Rate& rate : rates) {
        for (const char* form : {"read", "cas"}) {
            if (rate.threads == 1) continue;
            holds = holds && measured.mean(figure(rate.cpu, rate.threads, form)) <
                                 measured.mean(figure(rate.cpu, 1, form));
        }
    }
    return {holds, fmt::format("at 8 threads x86-64 {:.2f} and {:.2f} of one thread's, arm64 "
                               "{:.2f} and {:.2f}",
                               left_at_eight(measured, "x86-64", "read"),
                               left_at_eight(measured, "x86-64", "cas"),
                               left_at_eight(measured, "arm64", "read"),
                               left_at_eight(measured, "arm64", "cas"))};
}

Judgement fall_agrees(const Measured& measured, std::string_view cpu, double read, double cas) {
    const double read_left = left_at_eight(measured, cpu, "read");
    const double cas_left = left_at_eight(measured, cpu, "cas");
    return {agrees(read_left, read) && agrees(cas_left, cas),
            fmt::format("{:.2f} before, {:.2f} after", read_left, cas_left)};
}
Judgement x86_fall_agrees(const Measured& measured) {
    return fall_agrees(measured, "x86-64", 5664.0 / 14496, 7190.0 / 14716);
}
Judgement arm_fall_agrees(const Measured& measured) {
    return fall_agrees(measured, "arm64", 2641.0 / 23676, 1603.0 / 24488);
}

Judgement wins_on_x86(const Measured& measured) {
    const double ratio = after_to_before(measured, "x86-64", 8);
    return {ratio > 1.05, fmt::format("{:.3f} times at 8 threads", ratio)};
}

Judgement loses_on_arm(const Measured& measured) {
    const double four = after_to_before(measured, "arm64", 4);
    const double eight = after_to_before(measured, "arm64", 8);
    return {four < 0.95 && eight < 0.95,
            fmt::format("{:.3f} and {:.3f} times at 4 and 8 threads", four, eight)};
}

Judgement one_load_less(const Measured& measured) {
    const double x86 = after_to_before(measured, "x86-64", 1);
    const double arm = after_to_before(measured, "arm64", 1);
    return {x86 > 1 && arm > 1 && agrees(x86, 1.015) && agrees(arm, 1.034),
            fmt::format("x86-64 {:.3f}, arm64 {:.3f} times", x86, arm)};
}

constexpr Shape shapes[] = {
    {"a", "a read lock's total rate falls with threads", rates_fall,
     "A line that moves between cores costs nothing."},
    {"b", "on x86-64 to 0.39 before and 0.49 after, at 8 threads", x86_fall_agrees,
     "How many atomics a core gets out of a line before it loses it."},
    {"c", "on arm64 to 0.11 before and 0.065 after, at 8 threads", arm_fall_agrees,
     "What a contended atomic costs on ThunderX2, and where it runs, was not published; in the "
     "model the line's home serves them one after another at a fixed price, also for many."},
    {"d", "compare-and-swap first wins on x86-64 at 8 threads (1.27 times)", wins_on_x86,
     "The request that it saves is there, and about outweighed by the compare-and-swap that must "
     "fail. Which prevails turns with the loop's own time (--set gap_ns) and by a few percent."},
    {"e", "and loses on arm64 at 4 and 8 threads (0.70, 0.61)", loses_on_arm,
     "An atomic that fails at the line's home costs its turn there and no more, while the load "
     "that the other form starts with brings the line to a core that soon loses it again. "
     "ThunderX2's own costs were not published."},
    {"f", "uncontended it saves a load (1.015 and 1.034 times)", one_load_less,
     "A load before a compare-and-swap of the same line is free."},
};

}  // namespace

Publication rwsem_2019(std::int64_t divisor) {
    Publication publication;
    publication.name = "rwsem-2019";
    publication.title = "down_read_trylock(): read first, or compare-and-swap first";
    publication.source = "LKML 2019-02, locktest -r100 -i-10 -c10, x86-64 and ThunderX2";
    publication.setting = "model:skylake-sp and model:thunderx2, locktest, readers alone";
    publication.repeats = 3;
    Table table{.title = "Thousands of acquisitions per second, all threads",
                .labels = {"cpu", "threads"},
                .reference = "read",
                .value = "cas",
                .shows_spread = true,
                .rows = {}};
    for (const Rate& rate : rates) {
        const Loop& loop = loop_of(rate.cpu);
        for (const char* form : {"read", "cas"}) {
            const bool reads = form == std::string_view("read");
            const TrialSpec spec =
                trial_of("locktest", loop.machine, reads ? "rwsem-read-first" : "rwsem-cas-first",
                         "none", rate.threads,
                         {{"duration_ms", std::max<std::int64_t>(1, 10 / divisor)},
                          {"load_ns", loop.load_ns},
                          {"gap_ns", loop.gap_ns}});
            publication.figures.push_back({.name = figure(rate.cpu, rate.threads, form),
                                           .published = reads ? rate.read_first : rate.cas_first,
                                           .published_sd = {},
                                           .sources = {{publication.trial(spec), "acquisitions"}},
                                           .of = operations_per_s,
                                           .scale = 1e-3});
        }
        table.rows.push_back({{std::string(rate.cpu), fmt::format("{}", rate.threads)},
                              figure(rate.cpu, rate.threads, "read"),
                              figure(rate.cpu, rate.threads, "cas")});
    }
    publication.tables.push_back(std::move(table));
    publication.shapes.assign(std::begin(shapes), std::end(shapes));
    return publication;
}

}  // namespace abortscope::reproduce
