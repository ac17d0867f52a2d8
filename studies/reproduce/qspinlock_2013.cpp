// SPDX-License-Identifier: Apache-2.0
//
// "qspinlock: introduce a queue spinlock", LKML, 2013-07 and -08: KVM guests of 16 virtual CPUs on
// a host of 2 sockets, 16 cores, 32 threads (Sandy Bridge); ticket lock (3.11-rc1) against queue
// spinlock, and against a queue spinlock that tries 64 times before it queues. The commit ratio is
// the guests' virtual CPUs to the host's logical ones; scores are means of the guests (inferred).
#include <fmt/format.h>

#include <algorithm>

#include "studies/reproduce/publication.hpp"

namespace abortscope::reproduce {
namespace {

constexpr unsigned guest_cpus = 16;
constexpr unsigned host_cpus = 32;

struct Score {
    std::string_view load;
    double ratio;
    double ticket;
    double ticket_sd;
    double queue;
    double queue_sd;
};

constexpr Score scores[] = {
    {"hackbench", 0.5, 18.9326, 1.6072, 20.0686, 2.9968},
    {"hackbench", 1.0, 34.0585, 5.5120, 33.2230, 1.6119},
    {"ebizzy", 0.5, 20499.3750, 466.7756, 22257.8750, 884.8308},
    {"ebizzy", 1.0, 15903.5000, 271.7126, 17993.5000, 682.5095},
    {"ebizzy", 1.5, 1883.2222, 166.3714, 1742.8889, 135.2271},
    {"ebizzy", 2.5, 829.1250, 44.3957, 803.6250, 78.8034},
    {"dbench", 0.5, 11623.5000, 34.2764, 11667.0250, 47.1122},
    {"dbench", 1.0, 6945.3675, 79.0642, 6798.4950, 161.9431},
    {"dbench", 1.5, 3950.4367, 27.3828, 3910.3122, 45.4275},
    {"dbench", 2.0, 2588.2063, 35.2058, 2520.3412, 51.7138},
};

/// dbench with 64 tries before the queue: only the improvement over the ticket lock was given.
struct Delayed {
    double ratio;
    double improvement_pct;
};
constexpr Delayed delayed[] = {{0.5, 0.3529}, {1.0, -2.9459}, {1.5, 3.2423}, {2.0, 4.8027}};

struct Load {
    std::string_view name;
    std::string_view unit;
    std::string_view phase;
    std::optional<double> (*of)(const Measurement&);
    double scale;  ///< to the thread's unit, of all guests together
    bool lower_is_better;
    bool is_time;  ///< all guests' at once, and not a sum over them
};
constexpr Load loads[] = {
    {"hackbench", "s", "messages", duration_ms, 1e-3, true, true},
    {"ebizzy", "records/s", "records", operations_per_s, 1, false, false},
    {"dbench", "MB/s", "run", operations_per_s, 1e-6, false, false},
};

std::string figure(std::string_view load, double ratio, std::string_view lock) {
    return fmt::format("{} {:.1f} {}", load, ratio, lock);
}

double queue_gain(const Measured& measured, std::string_view load, double ratio) {
    return measured.ratio(figure(load, ratio, "queue"), figure(load, ratio, "ticket"));
}

/// "1.13 (significant)"
std::string gain_text(const Measured& measured, std::string_view load, double ratio) {
    const std::string queue = figure(load, ratio, "queue");
    const std::string ticket = figure(load, ratio, "ticket");
    const std::string word = !measured.testable(queue, ticket) ? "too few repeats"
                             : measured.differ(queue, ticket)  ? "significant"
                                                               : "not significant";
    return fmt::format("{:.3f} times ({})", measured.ratio(queue, ticket), word);
}

Judgement queue_wins_up_to_one(const Measured& measured) {
    bool holds = true;
    for (const double ratio : {0.5, 1.0}) {
        holds =
            holds && queue_gain(measured, "ebizzy", ratio) > 1 &&
            measured.differ(figure("ebizzy", ratio, "queue"), figure("ebizzy", ratio, "ticket"));
    }
    return {holds, gain_text(measured, "ebizzy", 0.5) + ", " + gain_text(measured, "ebizzy", 1.0)};
}

Judgement queue_loses_beyond(const Measured& measured) {
    return {queue_gain(measured, "ebizzy", 1.5) < 1 && queue_gain(measured, "ebizzy", 2.5) < 1,
            gain_text(measured, "ebizzy", 1.5) + ", " + gain_text(measured, "ebizzy", 2.5)};
}

double cliff(const Measured& measured, std::string_view lock) {
    return measured.ratio(figure("ebizzy", 1.0, lock), figure("ebizzy", 1.5, lock));
}

Judgement cliff_dwarfs_the_lock(const Measured& measured) {
    double choice = 1;
    for (const double ratio : {0.5, 1.0, 1.5, 2.5}) {
        const double gain = queue_gain(measured, "ebizzy", ratio);
        choice = std::max({choice, gain, 1 / gain});
    }
    const double ticket = cliff(measured, "ticket");
    const double queue = cliff(measured, "queue");
    return {std::min(ticket, queue) >= 2 && std::min(ticket, queue) > choice,
            fmt::format("ticket {:.2f} times, queue {:.2f}; the lock's choice {:.2f} at most",
                        ticket, queue, choice)};
}

Judgement cliff_agrees(const Measured& measured) {
    Judgement judgement = cliff_dwarfs_the_lock(measured);
    judgement.holds = agrees(cliff(measured, "ticket"), 15903.5 / 1883.2222) &&
                      agrees(cliff(measured, "queue"), 17993.5 / 1742.8889);
    return judgement;
}

Judgement hackbench_is_not_significant(const Measured& measured) {
    bool holds = true;
    for (const double ratio : {0.5, 1.0}) {
        const std::string queue = figure("hackbench", ratio, "queue");
        const std::string ticket = figure("hackbench", ratio, "ticket");
        holds = holds && measured.testable(queue, ticket) && !measured.differ(queue, ticket);
    }
    return {holds, "times: " + gain_text(measured, "hackbench", 0.5) + ", " +
                       gain_text(measured, "hackbench", 1.0)};
}

Judgement dbench_differs_little(const Measured& measured) {
    bool holds = true;
    std::string evidence;
    for (const double ratio : {0.5, 1.0, 1.5, 2.0}) {
        const std::string queue = figure("dbench", ratio, "queue");
        const std::string ticket = figure("dbench", ratio, "ticket");
        const double spread = std::max(measured.sd(queue), measured.sd(ticket));
        const double difference = measured.mean(queue) - measured.mean(ticket);
        const double distance = spread > 0 ? difference / spread : 0;
        holds = holds && std::max(distance, -distance) <= 2;
        evidence += fmt::format("{}{:+.1f}", evidence.empty() ? "" : ", ", distance);
    }
    return {holds, evidence + " standard deviations"};
}

Judgement dbench_falls_without_a_cliff(const Measured& measured) {
    constexpr double published[] = {0.60, 0.34, 0.22};
    constexpr double ratios[] = {1.0, 1.5, 2.0};
    bool holds = true;
    std::string evidence;
    for (std::size_t i = 0; i < 3; ++i) {
        const double share =
            measured.ratio(figure("dbench", ratios[i], "ticket"), figure("dbench", 0.5, "ticket"));
        holds = holds && agrees(share, published[i]);
        evidence += fmt::format("{}{:.2f}", evidence.empty() ? "" : ", ", share);
    }
    return {holds, evidence};
}

Judgement delay_helps_over_commit(const Measured& measured) {
    std::string evidence;
    bool holds = true;
    for (const Delayed& row : delayed) {
        const double gain = measured.ratio(figure("dbench", row.ratio, "delayed"),
                                           figure("dbench", row.ratio, "queue"));
        if (row.ratio > 1) holds = holds && gain > 1;
        if (row.ratio == 1) holds = holds && gain < 1;
        evidence += fmt::format("{}{:.3f}", evidence.empty() ? "" : ", ", gain);
    }
    return {holds, evidence + " times the queue lock at 0.5, 1, 1.5, 2"};
}

constexpr std::string_view ticket_is_too_good =
    "What a queue lock wins by: a contended ticket lock hardly gets slower with its waiters in the "
    "model (abortscope run locktest --lock ticket,mcs --set call=lock --threads 2,4,8), where on "
    "hardware each release makes all waiters fetch the line in turn (Boyd-Wickizer et al., OLS "
    "2012). And ebizzy's spinlocks are held for a few percent of the time only: most of its "
    "waiting is for the address space's semaphore, whose waiters sleep.";
constexpr std::string_view guests_are_idle =
    "A worker stands for a virtual CPU and its one thread. ebizzy runs two threads for each CPU, "
    "so a guest's CPUs stay busy while some wait for the semaphore; here they sleep, and leave "
    "the CPU to another guest. Halts, preemption and interrupts of virtual CPUs, which go through "
    "the hypervisor, are not modelled.";
constexpr std::string_view no_hypervisor =
    "Virtual CPUs are tasks of the host's scheduler here: the hypervisor's exits at halts, "
    "interrupts and preemption, which grow with over-commit, are not modelled.";
constexpr std::string_view little_scatter =
    "The model's repeats differ by their seeds alone and scatter less than a host does, so that "
    "small differences show.";

constexpr Shape shapes[] = {
    {"a", "the queue lock wins on ebizzy up to 1.0x (by 8 and 13 %)", queue_wins_up_to_one,
     ticket_is_too_good},
    {"b", "and loses beyond", queue_loses_beyond, ticket_is_too_good},
    {"c", "ebizzy's cliff from 1.0x to 1.5x dwarfs the choice of the lock", cliff_dwarfs_the_lock,
     guests_are_idle},
    {"c'", "it is 8.4 times for the ticket lock, 10.3 for the queue lock", cliff_agrees,
     guests_are_idle},
    {"d", "hackbench's differences are not significant", hackbench_is_not_significant,
     little_scatter},
    {"e", "dbench's differences are within two standard deviations", dbench_differs_little,
     little_scatter},
    {"f", "dbench at 1.0, 1.5, 2.0x gives 0.60, 0.34, 0.22 of 0.5x", dbench_falls_without_a_cliff,
     no_hypervisor},
    {"g", "64 tries before the queue help dbench beyond 1.0x and hurt at 1.0x",
     delay_helps_over_commit,
     "Few of dbench's spinlocks are waited for here, so that there is little to delay; and see f."},
};

}  // namespace

Publication qspinlock_2013(std::int64_t divisor) {
    Publication publication;
    publication.name = "qspinlock-2013";
    publication.title = "Ticket lock against queue spinlock";
    publication.source = "LKML 2013-07 to -08, queue spinlock RFC; KVM guests, 3.11-rc1";
    publication.setting =
        "model:sandybridge-2s, guests of 16 workers on 32 CPUs, scores of one guest";
    publication.repeats = 5;

    const auto spec = [&](std::string_view load, double ratio, std::string_view lock) {
        const auto threads = static_cast<unsigned>(ratio * host_cpus);
        std::vector<Setting> settings{{"guests", threads / guest_cpus}};
        const auto lasts = [&](std::int64_t ms) {
            settings.push_back({"duration_ms", std::max<std::int64_t>(1, ms / divisor)});
        };
        if (load == "ebizzy") lasts(100);
        if (load == "dbench") {
            lasts(50);
            settings.push_back({"path_walk", 1});  // rcu: 3.11 walks so
        }
        if (load == "hackbench") {
            settings.push_back({"messages", std::max<std::int64_t>(10, 500 / divisor)});
        }
        if (lock == "delayed") settings.push_back({"spin_threshold", 64});
        return trial_of(load, "model:sandybridge-2s",
                        lock == "ticket" ? "ticket" : "qspinlock-2013", "none", threads, settings);
    };
    const auto add = [&](const Load& load, double ratio, std::string_view lock,
                         std::optional<double> published, std::optional<double> sd) {
        const double guests = load.is_time ? 1 : ratio * host_cpus / guest_cpus;
        publication.figures.push_back(
            {.name = figure(load.name, ratio, lock),
             .published = published,
             .published_sd = sd,
             .sources = {{publication.trial(spec(load.name, ratio, lock)), load.phase}},
             .of = load.of,
             .scale = load.scale / guests});
    };
    for (const Load& load : loads) {
        Table table{.title = fmt::format("{}, {}", load.name, load.unit),
                    .labels = {"commit"},
                    .reference = "ticket",
                    .value = "queue",
                    .lower_is_better = load.lower_is_better,
                    .shows_spread = true,
                    .rows = {}};
        for (const Score& score : scores) {
            if (score.load != load.name) continue;
            add(load, score.ratio, "ticket", score.ticket, score.ticket_sd);
            add(load, score.ratio, "queue", score.queue, score.queue_sd);
            table.rows.push_back({{fmt::format("{:.1f}x", score.ratio)},
                                  figure(load.name, score.ratio, "ticket"),
                                  figure(load.name, score.ratio, "queue")});
        }
        if (load.name == "hackbench") {
            table.note =
                "hackbench sends fewer messages here than there: hold its ratios, not its "
                "seconds, against the thread's.";
        }
        publication.tables.push_back(std::move(table));
    }
    const Load& dbench = loads[2];
    Table late{.title = "dbench, MB/s, 64 tries before the queue",
               .labels = {"commit"},
               .reference = "ticket",
               .value = "delayed",
               .shows_spread = true,
               .rows = {},
               .note = "The thread gave the delayed form's ratios alone."};
    for (const Delayed& row : delayed) {
        add(dbench, row.ratio, "delayed", {}, {});
        late.rows.push_back({{fmt::format("{:.1f}x", row.ratio)},
                             figure("dbench", row.ratio, "ticket"),
                             figure("dbench", row.ratio, "delayed"),
                             1 + row.improvement_pct / 100});
    }
    publication.tables.push_back(std::move(late));
    publication.shapes.assign(std::begin(shapes), std::end(shapes));
    return publication;
}

}  // namespace abortscope::reproduce
