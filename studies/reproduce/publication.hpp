// SPDX-License-Identifier: Apache-2.0
//
// A mailing-list thread's experiment: its figures, the trials that measure them, and the shapes
// that a reproduction should have.
//
//     figure  "hmap search 5 none"   published 1577 ms   trial ovs-hmap … none, phase search
//     row     a figure beside another: their ratio is what the thread is about
//     shape   a statement about figures, judged by a predicate over what was measured
//
// A thread's file (ovs_2016.cpp, …) holds all of it as tables. No verdict is written there, only
// predicates; `missing` are the words for a predicate that does not hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/row.hpp"
#include "profiler/sweep.hpp"
#include "studies/reproduce/measured.hpp"

namespace abortscope::reproduce {

/// Where a figure's number comes from: a trial of the publication, and a phase, or the sum over all
/// of its phases where `phase` is empty.
struct Source {
    std::size_t trial = 0;
    std::string_view phase;
};

struct Figure {
    std::string name;
    std::optional<double> published;
    std::optional<double> published_sd;
    std::vector<Source> sources;  ///< added up
    std::optional<double> (*of)(const Measurement&) = nullptr;
    double scale = 1;  ///< from the measurement's unit to the published one's
};

/// What a figure's number is of a row. Scales are for them.
std::optional<double> duration_ms(const Measurement& row);
std::optional<double> operations_per_s(const Measurement& row);

struct TableRow {
    std::vector<std::string> labels;
    std::string reference;  ///< the figure that `value` is held against
    std::string value;
    /// Where the thread gave a ratio and no value.
    std::optional<double> published_ratio{};
};

struct Table {
    std::string title;  ///< with the unit
    std::vector<std::string> labels;
    std::string reference;  ///< heading; empty: the reference stands in a row of its own
    std::string value;
    bool lower_is_better = false;  ///< a ratio above 1 is an improvement either way
    bool shows_spread = false;     ///< standard deviations, and whether a difference is significant
    std::vector<TableRow> rows;
    std::string note{};
};

struct Judgement {
    bool holds = false;
    std::string evidence;  ///< the measured numbers that it was judged by
};

struct Shape {
    std::string_view id;
    std::string_view claim;
    Judgement (*judge)(const Measured&);
    std::string_view missing;  ///< why the model does not show it, where it does not
};

struct Publication {
    std::string_view name;
    std::string_view title;
    std::string_view source;
    std::string setting;  ///< what was run, in one sentence
    unsigned repeats = 1;
    std::vector<TrialSpec> trials;  ///< without seed and repeat
    std::vector<Figure> figures;
    std::vector<Table> tables;
    std::vector<Shape> shapes;

    /// The place of the trial, which is added if there is none like it yet.
    std::size_t trial(const TrialSpec& spec);
    /// nullptr if there is none of that name.
    const Figure* find(std::string_view figure) const;
};

/// A ratio agrees with a published one where neither is more than this many times the other.
inline constexpr double agreement = 1.25;
bool agrees(double measured, double published);

/// A scenario's trial with its default values but for the named ones.
struct Setting {
    std::string_view parameter;
    std::int64_t value;
};
TrialSpec trial_of(std::string_view scenario, std::string_view machine, std::string_view lock,
                   std::string_view policy, unsigned threads, std::vector<Setting> settings);

// The threads. `divisor` makes everything that much smaller: elements, and the time that workloads
// run for.
Publication ovs_2016(std::int64_t divisor = 1);
Publication qspinlock_2013(std::int64_t divisor = 1);
Publication rwsem_2019(std::int64_t divisor = 1);
Publication urcu_2011(std::int64_t divisor = 1);

struct PublicationEntry {
    std::string_view name;
    Publication (*make)(std::int64_t divisor);
};
inline constexpr PublicationEntry publications[] = {{"ovs-2016", ovs_2016},
                                                    {"qspinlock-2013", qspinlock_2013},
                                                    {"rwsem-2019", rwsem_2019},
                                                    {"urcu-2011", urcu_2011}};

/// Every trial, each `repeats` times in a row, repeat k with seed + k.
std::vector<Trial> trials_of(const Publication& publication, std::uint64_t seed, unsigned repeats);
/// Takes the numbers of all repeats of all trials, in the order of `trials_of`.
Measured measured_from(const Publication& publication,
                       const std::vector<std::vector<Measurement>>& results, unsigned repeats);

}  // namespace abortscope::reproduce
