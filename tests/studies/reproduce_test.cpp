// SPDX-License-Identifier: Apache-2.0
//
// The published tables, the predicates on made-up numbers, and the experiments in small.
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <set>

#include "profiler/trial_runner.hpp"
#include "studies/reproduce/publication.hpp"
#include "studies/reproduce/report.hpp"

namespace abortscope::reproduce {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t tiny = 400;

double published(const Publication& publication, const std::string& figure) {
    const Figure* found = publication.find(figure);
    EXPECT_NE(found, nullptr) << figure;
    return found != nullptr && found->published ? *found->published : -1;
}

/// Five values with that mean and standard deviation.
std::vector<double> five_values(double mean, double sd) {
    std::vector<double> values;
    for (const double step : {-1.2649, -0.6325, 0.0, 0.6325, 1.2649}) {
        values.push_back(mean + sd * step);
    }
    return values;
}

/// As if each figure had been measured as published, but for `changes`, by name.
Measured as_published(const Publication& publication,
                      const std::map<std::string, double>& changes = {}) {
    std::map<std::string, double> by_ratio;
    for (const Table& table : publication.tables) {
        for (const TableRow& row : table.rows) {
            if (!row.published_ratio) continue;
            by_ratio[row.value] = published(publication, row.reference) * *row.published_ratio;
        }
    }
    Measured measured;
    for (const Figure& figure : publication.figures) {
        double mean = figure.published ? *figure.published : by_ratio.at(figure.name);
        if (const auto change = changes.find(figure.name); change != changes.end()) {
            mean *= change->second;
        }
        for (const double value : five_values(mean, figure.published_sd.value_or(0))) {
            measured.add(figure.name, value);
        }
    }
    return measured;
}

Measured all_equal(const Publication& publication) {
    Measured measured;
    for (const Figure& figure : publication.figures) {
        for (int i = 0; i < 5; ++i) measured.add(figure.name, 100);
    }
    return measured;
}

std::set<std::string_view> shapes_that_hold(const Publication& publication,
                                            const Measured& measured) {
    std::set<std::string_view> holding;
    for (const Shape& shape : publication.shapes) {
        const Judgement judgement = shape.judge(measured);
        EXPECT_NE(judgement.evidence, "") << shape.id;
        if (judgement.holds) holding.insert(shape.id);
    }
    return holding;
}

TEST(Published, FiguresAreTheThreads) {
    const Publication ovs = ovs_2016();
    EXPECT_EQ(ovs.figures.size(), 12u * 3 * 2 + 4 * 3);
    EXPECT_EQ(published(ovs, "hmap search 2 none"), 780);
    EXPECT_EQ(published(ovs, "hmap search 10 tm"), 575);
    EXPECT_EQ(published(ovs, "batch search 5 tm"), 332);
    EXPECT_EQ(published(ovs, "cmap destroy 2 tm"), 245);
    EXPECT_EQ(published(ovs, "hmap insert 2 tm"), 164);
    EXPECT_EQ(published(ovs, "tx-abort 5"), 13);

    const Publication qspinlock = qspinlock_2013();
    EXPECT_EQ(published(qspinlock, "ebizzy 1.0 queue"), 17993.5);
    EXPECT_EQ(published(qspinlock, "hackbench 0.5 queue"), 20.0686);
    EXPECT_EQ(qspinlock.find("hackbench 0.5 queue")->published_sd, 2.9968);
    EXPECT_EQ(published(qspinlock, "dbench 2.0 ticket"), 2588.2063);
    EXPECT_FALSE(qspinlock.find("dbench 1.5 delayed")->published);
    EXPECT_DOUBLE_EQ(*qspinlock.tables.back().rows[2].published_ratio, 1.032423);

    const Publication rwsem = rwsem_2019();
    EXPECT_EQ(published(rwsem, "x86-64 8 read"), 5664);
    EXPECT_EQ(published(rwsem, "x86-64 8 cas"), 7190);
    EXPECT_EQ(published(rwsem, "arm64 4 cas"), 3440);

    const Publication urcu = urcu_2011();
    EXPECT_EQ(published(urcu, "thread condvar-in-mutex 0"), 129);
    EXPECT_EQ(published(urcu, "thread futex-never-armed 1"), 55754);
    EXPECT_EQ(published(urcu, "emulation condvar 2"), 660'000);
}

// The improvements as the thread printed them, in percent.
TEST(Published, QueueSpinlockFiguresGiveThePublishedImprovements) {
    const Publication qspinlock = qspinlock_2013();
    const auto ratio = [&](const std::string& point) {
        return published(qspinlock, point + " queue") / published(qspinlock, point + " ticket");
    };
    EXPECT_NEAR(ratio("hackbench 0.5"), 1.0600, 1e-4);
    EXPECT_NEAR(ratio("ebizzy 0.5"), 1.0858, 1e-4);
    EXPECT_NEAR(ratio("ebizzy 1.0"), 1.1314, 1e-4);
    EXPECT_NEAR(ratio("ebizzy 1.5"), 0.9255, 1e-4);
    EXPECT_NEAR(ratio("ebizzy 2.5"), 0.9692, 1e-4);
    EXPECT_NEAR(ratio("dbench 0.5"), 1.0037, 1e-4);
    EXPECT_NEAR(ratio("dbench 1.0"), 0.9789, 1e-4);
    EXPECT_NEAR(ratio("dbench 1.5"), 0.9898, 1e-4);
    EXPECT_NEAR(ratio("dbench 2.0"), 0.9738, 1e-4);
}

// A predicate that the publication itself fails would ask for something else than the shape. The
// one exception is the identity that perf's samples violate.
TEST(Shapes, HoldOfThePublishedFiguresThemselves) {
    for (const PublicationEntry& entry : publications) {
        const Publication publication = entry.make(1);
        const auto holding = shapes_that_hold(publication, as_published(publication));
        for (const Shape& shape : publication.shapes) {
            const bool is_identity = entry.name == "ovs-2016" && shape.id == "h";
            EXPECT_EQ(holding.contains(shape.id), !is_identity)
                << entry.name << " " << shape.id << ": " << shape.claim;
        }
    }
}

// Where nothing differs, only statements that nothing differs hold.
TEST(Shapes, DoNotHoldWhereNothingDiffers) {
    using Ids = std::set<std::string_view>;
    const std::map<std::string_view, Ids> expected{{"ovs-2016", {"e", "f"}},
                                                   {"qspinlock-2013", {"d", "e"}},
                                                   {"rwsem-2019", {}},
                                                   {"urcu-2011", {"c", "e"}}};
    for (const PublicationEntry& entry : publications) {
        const Publication publication = entry.make(1);
        EXPECT_EQ(shapes_that_hold(publication, all_equal(publication)), expected.at(entry.name))
            << entry.name;
    }
}

TEST(Shapes, ThatSayThatNothingDiffersDoNotHoldWhereSomethingDoes) {
    const auto holds = [](const Publication& publication, std::string_view id,
                          const std::map<std::string, double>& changes) {
        return shapes_that_hold(publication, as_published(publication, changes)).contains(id);
    };
    EXPECT_FALSE(holds(ovs_2016(), "e", {{"hmap insert 2 tm", 1.3}}));
    EXPECT_FALSE(holds(ovs_2016(), "f", {{"tx-conflict 5", 0.5}}));
    EXPECT_FALSE(holds(qspinlock_2013(), "d", {{"hackbench 1.0 queue", 0.5}}));
    EXPECT_FALSE(holds(qspinlock_2013(), "e", {{"dbench 1.5 queue", 0.95}}));
    EXPECT_FALSE(holds(urcu_2011(), "c", {{"thread polling 1", 1.2}}));
    EXPECT_FALSE(holds(urcu_2011(), "e", {{"emulation futex 2", 1.2}}));
}

TEST(Shapes, OneFigureDecides) {
    const auto holds = [](const Publication& publication, std::string_view id,
                          const std::map<std::string, double>& changes) {
        return shapes_that_hold(publication, as_published(publication, changes)).contains(id);
    };
    EXPECT_FALSE(holds(ovs_2016(), "a", {{"hmap search 10 tm", 1.3}})) << "no longer growing";
    EXPECT_FALSE(holds(ovs_2016(), "d", {{"batch search 5 tm", 0.7}, {"batch search 10 tm", 0.9}}));
    EXPECT_FALSE(holds(qspinlock_2013(), "a", {{"ebizzy 1.0 queue", 0.9}}));
    EXPECT_FALSE(holds(qspinlock_2013(), "b", {{"ebizzy 2.5 queue", 1.1}}));
    EXPECT_FALSE(holds(qspinlock_2013(), "g", {{"dbench 2.0 delayed", 0.9}}));
    EXPECT_FALSE(holds(rwsem_2019(), "d", {{"x86-64 8 cas", 0.8}}));
    EXPECT_FALSE(holds(rwsem_2019(), "e", {{"arm64 4 cas", 1.4}}));
    EXPECT_FALSE(holds(urcu_2011(), "d", {{"emulation condvar-in-mutex 2", 2}}));
}

TEST(Shapes, AnUntestableDifferenceIsNotSignificant) {
    Measured measured;
    for (const double value : {1.0, 2.0, 3.0}) {
        measured.add("few", value);
        measured.add("others", value + 10);
    }
    EXPECT_FALSE(measured.testable("few", "others"));
    EXPECT_FALSE(measured.differ("few", "others"));
    measured.add("few", 4);
    measured.add("others", 14);
    EXPECT_TRUE(measured.differ("few", "others"));
    EXPECT_DOUBLE_EQ(measured.mean("few"), 2.5);
    EXPECT_NEAR(measured.sd("few"), 1.29099, 1e-5);
}

/// The experiment in small.
std::string reproduction(const PublicationEntry& entry, std::uint64_t seed) {
    const Publication publication = entry.make(tiny);
    std::vector<std::vector<Measurement>> results;
    for (const Trial& trial : trials_of(publication, seed, 1)) {
        results.push_back(run_trial(*trial.scenario, trial.spec).rows);
    }
    const Measured measured = measured_from(publication, results, 1);
    return reproduction_text(publication, measured, 80) +
           reproduction_markdown(publication, measured);
}

TEST(Reproduce, EveryThreadRunsInSmallAndFitsATerminal) {
    for (const PublicationEntry& entry : publications) {
        const std::string text = reproduction(entry, 1);
        EXPECT_THAT(text, HasSubstr("published"));
        EXPECT_THAT(text, HasSubstr("Shapes:"));
        EXPECT_THAT(text, Not(HasSubstr("nan")));
        std::size_t start = 0;
        while (start < text.find("\n## ")) {
            const std::size_t end = text.find('\n', start);
            EXPECT_LE(end - start, 80u) << text.substr(start, end - start);
            start = end + 1;
        }
    }
}

TEST(Reproduce, MeasuresTheSameNumbersAgain) {
    const PublicationEntry& rwsem = publications[2];
    EXPECT_EQ(reproduction(rwsem, 5), reproduction(rwsem, 5));
    EXPECT_NE(reproduction(rwsem, 5), reproduction(rwsem, 6));
}

TEST(Reproduce, SaysWhatIsMissingOnlyWhereAShapeDoesNotHold) {
    const Publication publication = rwsem_2019();
    EXPECT_THAT(reproduction_text(publication, as_published(publication), 80),
                Not(HasSubstr("missing")));
    const std::string text = reproduction_text(publication, all_equal(publication), 80);
    EXPECT_THAT(text, HasSubstr("DOES NOT HOLD"));
    EXPECT_THAT(text, HasSubstr("missing: "));
}

}  // namespace
}  // namespace abortscope::reproduce
