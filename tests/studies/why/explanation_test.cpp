// SPDX-License-Identifier: Apache-2.0
#include "studies/why/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "scenarios/registry.hpp"

namespace abortscope {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

using Values = std::map<std::string_view, std::int64_t>;

AbortCase case_of(std::string_view scenario, const Values& changes = {}, unsigned repeats = 3) {
    const ScenarioEntry& entry = *find_scenario(scenario);
    Trial trial{&entry, {}};
    trial.spec.scenario = entry.info;
    trial.spec.lock = entry.info->locks.empty() ? "" : entry.info->locks.front();
    trial.spec.policy = entry.info->locks.empty() ? "" : "ovs2016";
    trial.spec.threads = entry.info->default_threads;
    for (const ParameterSpec& parameter : entry.info->parameters) {
        const auto change = changes.find(parameter.name);
        trial.spec.values.push_back(change == changes.end() ? parameter.default_value
                                                            : change->second);
    }
    CaseFinder finder;
    for (unsigned repeat = 0; repeat < repeats; ++repeat) {
        trial.spec.seed = 1 + repeat;
        trial.spec.repeat = repeat;
        finder.add(entry, run_trial(entry, trial.spec));
    }
    return finder.worst();
}

/// With every variant measured, as the command does it.
Explanation explained(const AbortCase& abort_case) {
    std::vector<VariantRows> measured;
    for (Variant& variant : variants_of(abort_case)) {
        std::vector<Measurement> rows;
        for (const Trial& trial : trials_of(abort_case, variant)) {
            for (Measurement& row : run_trial(*trial.scenario, trial.spec).rows) {
                rows.push_back(std::move(row));
            }
        }
        measured.push_back({std::move(variant), std::move(rows)});
    }
    return explain(abort_case, std::move(measured));
}

std::string all_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
}

/// The cause and mechanism of a case, and the option that cures it.
struct Expected {
    std::string_view scenario;
    Values values;
    rtm::Cause cause;
    std::string mechanism;
    std::string sentence;
    std::string change;
    bool removes_cause = true;  ///< otherwise the best change only lessens it
};

class EveryCause : public testing::TestWithParam<Expected> {};

TEST_P(EveryCause, HasItsMechanismAndAMeasuredCure) {
    const Expected& expected = GetParam();
    const AbortCase abort_case = case_of(expected.scenario, expected.values);
    const Explanation explanation = explained(abort_case);
    EXPECT_EQ(rtm::name_of(explanation.cause), rtm::name_of(expected.cause));
    EXPECT_THAT(explanation.evidence.mechanism, HasSubstr(expected.mechanism));
    EXPECT_THAT(all_of(explanation.evidence.sentences), HasSubstr(expected.sentence));
    ASSERT_FALSE(explanation.outcomes.empty());
    const Outcome& best = explanation.outcomes.front();
    EXPECT_EQ(best.variant.change, expected.change);
    EXPECT_TRUE(best.is_better());
    EXPECT_EQ(best.removes_cause, expected.removes_cause);
    EXPECT_LT(best.after.rate_of(expected.cause).value_or(0),
              *explanation.before.rate_of(expected.cause));
    const std::string text = explanation_text(explanation, 80);
    EXPECT_THAT(text, HasSubstr(expected.change + ": "));
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_LE(count, 40u) << "more than a screen";
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, EveryCause,
    testing::Values(
        Expected{"ovs-hmap",
                 {{"n", 3000}, {"mutation_pct", 5}},
                 rtm::Cause::conflict,
                 "false sharing: pad",
                 "hmap.n, which workers 0-3 write, shares a line with hmap.buckets and hmap.mask",
                 "--set padded_count=1"},
        Expected{"ovs-cmap",
                 {{"n", 3000}, {"mutation_pct", 10}},
                 rtm::Cause::conflict,
                 "false sharing: pad",
                 "the other side was in no transaction",
                 "--set padded_count=1",
                 false},
        Expected{"rtm-conflict",
                 {{"bytes", 1}},
                 rtm::Cause::conflict,
                 "false sharing: pad",
                 "False sharing: in 100.0 %",
                 "--set bytes=padded"},
        Expected{"rtm-conflict",
                 {{"bytes", 0}},
                 rtm::Cause::conflict,
                 "true sharing",
                 "True sharing: in 100.0 %",
                 "--set bytes=padded"},
        Expected{"lemming",
                 {{"sections", 4000}},
                 rtm::Cause::lock_busy,
                 "lemming effect",
                 "ovs2016 does not wait for a busy lock",
                 "--policy kleen-wait"},
        Expected{"rtm-capacity",
                 {},
                 rtm::Cause::capacity,
                 "more lines than the cache",
                 "64 sets of 8 ways, 512 lines or 32 KiB",
                 "--set transactions=800 --set footprint_lines=256"},
        Expected{"rtm-capacity",
                 {{"footprint_lines", 12}, {"placement", 1}},
                 rtm::Cause::capacity,
                 "more lines than the cache",
                 "1 of the 64 sets overflowed",
                 "--set placement=packed"},
        Expected{"rtm-first-touch",
                 {},
                 rtm::Cause::other,
                 "page faults",
                 "retrying never helps",
                 "--set prefault=1"},
        Expected{"rtm-syscall",
                 {},
                 rtm::Cause::other,
                 "a system call",
                 "100.0 % of the aborts: system call",
                 "--set place=before"},
        Expected{"rtm-nesting",
                 {},
                 rtm::Cause::nested,
                 "too many levels",
                 "an XBEGIN at depth 8, where model:haswell counts 7",
                 "--set depth=7"},
        Expected{
            "rtm-pause", {}, rtm::Cause::other, "PAUSE", "PAUSE always aborts", "--set pauses=0"},
        Expected{"rtm-explicit",
                 {},
                 rtm::Cause::explicit_abort,
                 "the program itself",
                 "0x01 3,000 times",
                 "--set abort_every=0"},
        Expected{"rtm-duration",
                 {},
                 rtm::Cause::other,
                 "interrupts",
                 "is interrupted every 4000 us",
                 "--set transactions=800 --set duration_cycles=750000"}),
    [](const testing::TestParamInfo<Expected>& each) {
        std::string name(each.param.scenario);
        std::replace(name.begin(), name.end(), '-', '_');
        return name + std::to_string(each.index);
    });

TEST(Explanation, ManyLinesAreChanceMeetingsAndNoChangeIsSaidToHelpThatDoesNot) {
    const AbortCase abort_case = case_of("rtm-bank", {{"transfers", 4000}});
    const Explanation explanation = explained(abort_case);
    EXPECT_THAT(explanation.evidence.mechanism, HasSubstr("chance meetings"));
    const std::string text = explanation_text(explanation, 80);
    if (!explanation.outcomes.front().is_better()) {
        EXPECT_THAT(text, HasSubstr("No change"));
    }
    for (const Outcome& outcome : explanation.outcomes) {
        if (!outcome.is_better()) {
            EXPECT_THAT(text, Not(HasSubstr(outcome.variant.change + ": ")));
        }
    }
}

TEST(Explanation, OneRepeatCannotTellChanceFromChange) {
    const AbortCase abort_case = case_of("rtm-conflict", {{"bytes", 1}}, 1);
    const Explanation explanation = explained(abort_case);
    EXPECT_FALSE(explanation.outcomes.front().is_better());
    EXPECT_THAT(explanation_text(explanation, 80), HasSubstr("chance cannot be told from change"));
}

TEST(CaseFinder, KeepsThePointWithTheHighestAbortRateAndAllItsRepeats) {
    const ScenarioEntry& entry = *find_scenario("rtm-conflict");
    CaseFinder finder;
    for (const std::int64_t bytes : {2, 1, 2}) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            TrialSpec spec;
            spec.scenario = entry.info;
            spec.policy = "";
            spec.threads = 2;
            spec.values = {100, 0, bytes, 500, 1000};
            spec.seed = seed;
            finder.add(entry, run_trial(entry, spec));
        }
    }
    EXPECT_EQ(finder.worst().repeats.size(), 2u);
    EXPECT_EQ(finder.worst().repeats.front().value("bytes"), 1);
    EXPECT_EQ(finder.worst().rows.size(), 2u);
}

}  // namespace
}  // namespace abortscope
