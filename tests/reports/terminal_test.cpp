// SPDX-License-Identifier: Apache-2.0
#include "reports/terminal.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/reports/sample_rows.hpp"

namespace abortscope {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
}

TEST(TerminalReport, ReadsLikeTheThreadsOwnTable) {
    const SampleRows sample({"none", "ovs2016"}, 1);
    EXPECT_EQ(terminal_report(sample.rows, sample.columns, 80),
              R"(ovs-hmap on model:haswell: lock fat-rwlock, 4 threads, 8 cpus, n 200000

mutation  phase   none  ovs2016  ratio
       %            ms       ms
       2  insert   141      141   1.00
          search   780      390   2.00
      10  insert   141      141   1.00
          search  2340      780   3.00

ratio: how many times faster than none

Where the attempts of search went, causes in % of the aborts:

mutation  policy   attempts  aborts  aborted  conflict  lock_busy  fallback
       %                                   %         %          %         %
       2  ovs2016   800,000  40,000      5.0      75.0       25.0       1.0
      10  ovs2016   800,000  80,000     10.0      75.0       25.0       1.0
)");
}

TEST(TerminalReport, FitsEightyColumnsWithManyPolicies) {
    const SampleRows sample({"none", "ovs2016", "kleen-wait", "kernel-adapt", "glibc", "dpdk"}, 3);
    const std::string narrow = terminal_report(sample.rows, sample.columns, 80);
    EXPECT_LE(longest_line(narrow), 80u) << narrow;
    EXPECT_THAT(narrow, HasSubstr("3 repeats"));
    const std::string wide = terminal_report(sample.rows, sample.columns, 120);
    EXPECT_LE(longest_line(wide), 120u) << wide;
    EXPECT_GT(longest_line(wide), 80u) << wide;
    EXPECT_THAT(wide, HasSubstr("fallbacks"));
}

TEST(TerminalReport, LosesNoCauseWhereTheBreakdownIsWiderThanTheTerminal) {
    SampleRows sample({"none", "ovs2016", "kleen-wait", "kernel-adapt", "glibc", "dpdk"}, 3);
    for (Measurement& row : sample.rows) {
        if (!row.log) continue;
        row.log->causes.fill(row.log->aborts() / rtm::cause_count);
        row.log->longest_fallback_run = 5000;
    }
    for (const unsigned width : {80u, 100u}) {
        const std::string text = terminal_report(sample.rows, sample.columns, width);
        EXPECT_LE(longest_line(text), width) << text;
        for (const std::string_view cause : rtm::cause_names) {
            EXPECT_THAT(text, HasSubstr(std::string(cause))) << width;
        }
        EXPECT_THAT(text, HasSubstr("again")) << width;
    }
}

TEST(TerminalReport, TellsInvoluntarySwitchesWhereWorkersShareCpus) {
    SampleRows sample({"none", "ovs2016"}, 2);
    for (Measurement& row : sample.rows) {
        row.counters[index_of(Counter::context_switches)] = Reading::of(12, Provenance::model);
        row.involuntary_switches = 0;
    }
    EXPECT_THAT(terminal_report(sample.rows, sample.columns, 80), Not(HasSubstr("involuntary")));
    for (Measurement& row : sample.rows) {
        row.cpus = row.threads / 2;
        row.involuntary_switches = 3;
    }
    const std::string text = terminal_report(sample.rows, sample.columns, 80);
    EXPECT_THAT(text, HasSubstr("involuntary"));
    EXPECT_THAT(text, HasSubstr("12            3")) << text;
    EXPECT_LE(longest_line(text), 80u) << text;
    for (Measurement& row : sample.rows) row.involuntary_switches.reset();
    EXPECT_THAT(terminal_report(sample.rows, sample.columns, 80), Not(HasSubstr("involuntary")));
}

TEST(TerminalReport, OfABaselineAloneHasNoRatioAndNoBreakdown) {
    const SampleRows sample({"none"}, 1);
    const std::string text = terminal_report(sample.rows, sample.columns, 80);
    EXPECT_THAT(text, HasSubstr("none"));
    EXPECT_THAT(text, Not(HasSubstr("ratio")));
    EXPECT_THAT(text, Not(HasSubstr("attempts")));
    EXPECT_FALSE(text.ends_with("\n\n"));
}

TEST(TerminalReport, ShowsThroughputWhereThePoliciesDidDifferentWork) {
    SampleRows sample({"none", "ovs2016"}, 1);
    for (Measurement& row : sample.rows) {
        row.duration_ns = 1'000'000'000;
        if (row.policy == "ovs2016") row.worker_operations = {900'000, 900'000};
        if (row.policy == "none") row.worker_operations = {600'000, 600'000};
    }
    const std::string text = terminal_report(sample.rows, sample.columns, 80);
    EXPECT_THAT(text, HasSubstr("M/s"));
    EXPECT_THAT(text, HasSubstr("1.50"));
}

TEST(TerminalReport, ShowsThroughputWherePhasesRunForATime) {
    SampleRows sample({"none"}, 1);
    for (Measurement& row : sample.rows) {
        row.parameters.push_back({duration_parameter_name, 20, {}});
    }
    const std::string text = terminal_report(sample.rows, sample.columns, 80);
    EXPECT_THAT(text, HasSubstr("/s"));
    EXPECT_THAT(text, Not(HasSubstr("  ms")));
}

TEST(TerminalReport, SaysWhatItIsWhereEveryStatusIsZero) {
    SampleRows sample({"none", "ovs2016"}, 1);
    for (Measurement& row : sample.rows) {
        AbortLog& log = *row.log;
        log.commits = 0;
        log.causes.fill(0);
        log.causes[static_cast<std::size_t>(rtm::Cause::other)] = log.attempts;
    }
    const std::string on_the_model = terminal_report(sample.rows, sample.columns, 80);
    EXPECT_THAT(on_the_model, HasSubstr("ovs2016: nothing commits and every status is 0: RTM is"));
    EXPECT_THAT(on_the_model, HasSubstr("`abortscope why`"));
    EXPECT_LE(longest_line(on_the_model), 80u);

    for (Measurement& row : sample.rows) row.machine = "native";
    EXPECT_THAT(terminal_report(sample.rows, sample.columns, 80), HasSubstr("`abortscope doctor`"));

    // One commit, or one status with a bit, and it is no such run.
    for (Measurement& row : sample.rows) row.log->commits = row.log->attempts != 0 ? 1 : 0;
    EXPECT_THAT(terminal_report(sample.rows, sample.columns, 80), Not(HasSubstr("every status")));
}

TEST(TerminalReport, OfNothingIsNothing) {
    EXPECT_EQ(terminal_report({}, {}, 80), "");
}

}  // namespace
}  // namespace abortscope
