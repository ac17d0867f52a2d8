// SPDX-License-Identifier: Apache-2.0
#include "studies/validate.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "machines/model/model_machine.hpp"
#include "machines/model/preset_file.hpp"
#include "machines/model/team.hpp"
#include "primitives/owned.hpp"
#include "profiler/trial_runner.hpp"
#include "reports/text_table.hpp"
#include "scenarios/registry.hpp"

namespace abortscope {
namespace {

using M = model::ModelMachine;

struct Setting {
    std::string_view name;
    std::int64_t value;
};

/// Share of the attempts of one worker that commit.
double commit_share(std::string_view scenario, const std::string& machine,
                    std::initializer_list<Setting> settings) {
    const ScenarioEntry* entry = find_scenario(scenario);
    TrialSpec spec;
    spec.scenario = entry->info;
    spec.machine = machine;
    spec.policy = "";
    spec.threads = 1;
    for (const ParameterSpec& parameter : entry->info->parameters) {
        std::int64_t value = parameter.default_value;
        for (const Setting& setting : settings) {
            if (setting.name == parameter.name) value = setting.value;
        }
        spec.values.push_back(value);
    }
    std::uint64_t attempts = 0;
    std::uint64_t commits = 0;
    for (const Measurement& row : run_trial(*entry, spec).rows) {
        attempts += row.log->attempts;
        commits += row.log->commits;
    }
    return static_cast<double>(commits) / static_cast<double>(attempts);
}

// Words of rtm-capacity's parameters, in its order.
enum Access : std::int64_t { write, read };
enum Placement : std::int64_t { packed, strided, random_lines, fresh };

double capacity(const std::string& machine, std::int64_t lines, Access access, Placement placement,
                std::int64_t transactions = 400) {
    return commit_share("rtm-capacity", machine,
                        {{"transactions", transactions},
                         {"footprint_lines", lines},
                         {"access", access},
                         {"placement", placement}});
}

/// The largest footprint, in steps of 16 lines (1 KiB), of which at least `share` commits.
double largest_footprint(const std::string& machine, double share) {
    double largest = 0;
    for (std::int64_t lines = 128; lines <= 576; lines += 16) {
        if (capacity(machine, lines, write, fresh) >= share) largest = static_cast<double>(lines);
    }
    return largest;
}

/// Twice the time from a wake-up's system call until the sleeper, on another core, is back from
/// its own: what a round trip between two tasks that block takes.
double round_trip_us() {
    constexpr int rounds = 500;
    constexpr std::uint64_t short_idle_cycles = 20'000;  // 6 us: the lightest idle state
    model::EngineOptions options;
    options.workers = 2;
    options.arena_bytes = std::uint64_t{1} << 24;
    model::Team team(*model::find_preset("haswell"), options);
    const model::Engine::Scope scope(team.engine());
    const auto word = make_owned<M, M::Atomic<std::uint32_t>>("word", 0u);
    const auto sent_ns = make_owned<M, M::Cell<std::uint64_t>>("sent_ns");
    const auto total_ns = make_owned<M, M::Cell<std::uint64_t>>("total_ns");
    team.run(2, [&](unsigned worker) {
        for (int round = 0; round < rounds; ++round) {
            if (worker == 0) {
                M::futex_wait(*word, 0, forever_ns);
                *total_ns += M::now_ns() - std::uint64_t{*sent_ns};
                continue;
            }
            M::compute(short_idle_cycles);
            *sent_ns = M::now_ns();
            while (M::futex_wake(*word, 1) == 0) *sent_ns = M::now_ns();
        }
    });
    return 2 * static_cast<double>(std::uint64_t{*total_ns}) / 1e3 / rounds;
}

/// Cycles of an empty transaction.
double empty_transaction_cycles() {
    model::EngineOptions options;
    options.arena_bytes = std::uint64_t{1} << 24;
    model::Team team(*model::find_preset("haswell"), options);
    const model::Engine::Scope scope(team.engine());
    constexpr int rounds = 10'000;
    team.run(1, [](unsigned) {
        for (int i = 0; i < rounds; ++i) {
            if (M::begin().is_started()) M::commit();
        }
    });
    return static_cast<double>(team.counts().cycles_ct) / rounds;
}

void add_written_lines(std::vector<Validation>& rows) {
    rows.push_back({"haswell", "written lines, new memory each time: where most attempts abort",
                    "lines", 256, largest_footprint("model:haswell", 0.5), 16,
                    "Krizhanovsky, Intel forum 488911 (2013)", true,
                    "tree-PLRU beside lines in steady use leaves half of a set's 8 ways"});
    rows.push_back({"haswell", "the same: the most that ever commits", "lines", 400,
                    largest_footprint("model:haswell", 0.002), 64,
                    "rtm-bench baseline, 25 KB, in Cai (ANU 2020)", true,
                    "rare attempts find the emptied ways of an abort before"});
    // Published in words only, so the figure is whether the words hold.
    const double at_20_kib = capacity("model:haswell", 320, write, fresh, 1000);
    rows.push_back({"haswell", "20 KiB contiguous: does a minority of attempts commit", "", 1,
                    at_20_kib > 0 && at_20_kib < 0.5 ? 1.0 : 0.0, 0,
                    "Intel forum 393861: commits after several retries", true,
                    "seldom, but not never"});
    for (const auto& [machine, lines] :
         {std::pair{"haswell", 9}, std::pair{"skylake-sp", 9}, std::pair{"icelake-sp", 13}}) {
        rows.push_back(
            {machine, fmt::format("{} written lines of one set: share that commits", lines), "", 0,
             capacity(fmt::format("model:{}", machine), lines, write, strided), 0,
             "Intel Optimization Manual (one line a way)", true, "evicting a written line aborts"});
    }
}

void add_read_lines(std::vector<Validation>& rows) {
    rows.push_back({"haswell", "7.5 MiB read only: does any attempt commit", "", 1,
                    capacity("model:haswell", 122'880, read, packed, 12) > 0 ? 1.0 : 0.0, 0,
                    "Dice, Harris, Kogan, Lev, arXiv:1504.04640", true,
                    "read lines are watched while the inclusive L3 holds them"});
    rows.push_back({"haswell", "8.5 MiB read only: does any attempt commit", "", 0,
                    capacity("model:haswell", 139'264, read, packed, 12) > 0 ? 1.0 : 0.0, 0,
                    "the same: never above 8 MB", true, "8 MiB of L3"});
}

void add_balls_in_bins(std::vector<Validation>& rows) {
    struct Point {
        std::int64_t lines;
        double eight_ways;
        double twelve_ways;
    };
    // Exact for an LRU cache with nothing else in it.
    constexpr std::array<Point, 5> points{{{128, 0.013, 0.000},
                                           {192, 0.206, 0.001},
                                           {224, 0.466, 0.004},
                                           {256, 0.761, 0.015},
                                           {320, 0.996, 0.112}}};
    for (const unsigned ways : {8u, 12u}) {
        const std::string machine =
            fmt::format("model:haswell+background_lines=0+l1_ways={}", ways);
        for (const Point& point : points) {
            rows.push_back({fmt::format("haswell, {} ways", ways),
                            fmt::format("{} random written lines: share that aborts", point.lines),
                            "", ways == 8 ? point.eight_ways : point.twelve_ways,
                            1 - capacity(machine, point.lines, write, random_lines, 1000), 0.15,
                            "Monte-Carlo, 20,000 trials, pure LRU", true,
                            "pseudo-LRU overflows a little sooner than LRU"});
        }
    }
}

void add_events(std::vector<Validation>& rows) {
    struct Point {
        std::int64_t cycles;
        double aborts;
    };
    // 1 - exp(-rate x time) at 250 interrupts per second and 3.4 GHz.
    constexpr std::array<Point, 3> points{
        {{30'000, 0.0022}, {1'000'000, 0.0709}, {10'000'000, 0.5206}}};
    for (const Point& point : points) {
        rows.push_back(
            {"haswell", fmt::format("{} cycles long: share that aborts", point.cycles), "",
             point.aborts,
             1 - commit_share("rtm-duration", "model:haswell",
                              {{"transactions", 3000}, {"duration_cycles", point.cycles}}),
             0.03, "Poisson interrupts at CONFIG_HZ=250", true,
             "published curves rise sooner: SMIs, IPIs and devices are not modelled"});
    }
    rows.push_back({"haswell", "a PAUSE inside: share that commits", "", 0,
                    commit_share("rtm-pause", "model:haswell", {}), 0, "GCC manual; SDM 16.3.8.1",
                    true, "an instruction that RTM does not support"});
    rows.push_back({"haswell", "a system call inside: share that commits", "", 0,
                    commit_share("rtm-syscall", "model:haswell", {}), 0, "SDM 16.3.8", true, ""});
    rows.push_back({"haswell", "nested 7 deep: share that commits", "", 1,
                    commit_share("rtm-nesting", "model:haswell", {{"depth", 7}}), 0.01,
                    "MAX_RTM_NEST_COUNT, from memory", false, ""});
    rows.push_back({"haswell", "nested 8 deep: share that commits", "", 0,
                    commit_share("rtm-nesting", "model:haswell", {{"depth", 8}}), 0,
                    "MAX_RTM_NEST_COUNT, from memory", false, ""});
}

void add_costs(std::vector<Validation>& rows) {
    rows.push_back({"haswell", "empty transaction", "cycles", 45, empty_transaction_cycles(), 15,
                    "35-50, from memory (Yoo et al., SC'13)", false,
                    "begin and commit cost plus jitter"});
    rows.push_back({"haswell", "two tasks that block wake each other: a round trip", "us", 5.8,
                    round_trip_us(), 1.0, "perf bench sched pipe, 5.8 us/op (2009)", true,
                    "the wake-up is calibrated to this figure, so it shows no more than that"});
}

}  // namespace

std::vector<Validation> validate() {
    std::vector<Validation> rows;
    add_written_lines(rows);
    add_read_lines(rows);
    add_balls_in_bins(rows);
    add_events(rows);
    add_costs(rows);
    return rows;
}

namespace {

std::string number(double value) {
    return value == static_cast<double>(static_cast<std::int64_t>(value))
               ? fmt::format("{}", static_cast<std::int64_t>(value))
               : fmt::format("{:.3f}", value);
}

TextTable table_of(const std::vector<Validation>& rows) {
    using Align = TextTable::Align;
    TextTable table({{"machine", "", Align::left, 2},
                     {"experiment", "", Align::left},
                     {"published", ""},
                     {"model", ""},
                     {"error", ""},
                     {"allowed", "", Align::right, 1},
                     {"verdict", "", Align::left},
                     {"source", "", Align::left, 4},
                     {"mechanism", "", Align::left, 3}});
    for (const Validation& row : rows) {
        const std::string verdict =
            !row.sourced ? "from memory" : (row.holds() ? "holds" : "MISSED");
        const std::string unit = row.unit.empty() ? "" : ", " + row.unit;
        table.add({row.machine, row.experiment + unit, number(row.published), number(row.model),
                   number(row.error()), number(row.allowed), verdict, row.source, row.remark});
    }
    return table;
}

}  // namespace

std::string validation_text(const std::vector<Validation>& rows, std::size_t width) {
    TextTable table = table_of(rows);
    table.fit(width);
    table.fold(width);
    return table.text();
}

std::string validation_markdown(const std::vector<Validation>& rows) {
    return table_of(rows).markdown();
}

}  // namespace abortscope
