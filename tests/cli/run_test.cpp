// SPDX-License-Identifier: Apache-2.0
//
// `abortscope run` as its user meets it: streams, files, exit codes.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "machines/native/rtm_probe.hpp"
#include "reports/csv_table.hpp"
#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// One line on standard error, nothing on standard output.
void expect_refusal(const std::string& words, int code, const std::string& line) {
    const Outcome outcome = abortscope(words);
    EXPECT_EQ(outcome.code, code) << words;
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_THAT(lines_of(outcome.err), SizeIs(1)) << words;
    EXPECT_THAT(outcome.err, HasSubstr(line)) << words;
    EXPECT_THAT(outcome.err, StartsWith("abortscope: ")) << words;
}

TEST(Run, EndsInATableAndACsv) {
    const TemporaryFolder folder;
    const Outcome outcome =
        abortscope("run ovs-hmap --threads 4 --mutation 2,5 --policy none,ovs2016 --n 500 --csv " +
                   folder.file("out.csv"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("ratio"));
    EXPECT_THAT(outcome.err, HasSubstr("simulated accesses"));
    const auto lines = lines_of(contents_of(folder.file("out.csv")));
    EXPECT_THAT(lines, SizeIs(1 + 2 * 2 * 4));
    EXPECT_THAT(lines[0], StartsWith("schema_version,scenario,phase,"));
}

TEST(Run, TakesOptionsBeforeAndAfterTheScenario) {
    const Outcome after = abortscope("run ovs-hmap --n 300 --mutation 5 --csv -");
    const Outcome before = abortscope("run --n 300 --mutation 5 --csv - ovs-hmap");
    const Outcome equals = abortscope("run --n=300 ovs-hmap --set mutation_pct=5 --csv=-");
    EXPECT_EQ(after.code, 0) << after.err;
    EXPECT_EQ(before.out, after.out);
    EXPECT_EQ(equals.out, after.out);
}

TEST(Run, GivesTheSameBytesAgainAndWithAnyNumberOfJobs) {
    const std::string words =
        "run ovs-hmap --n 400 --mutation 2,10 --policy none,ovs2016 --repeat 2 --csv - ";
    const Outcome first = abortscope(words + "--jobs 1");
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(abortscope(words + "--jobs 1").out, first.out);
    EXPECT_EQ(abortscope(words + "--jobs 2").out, first.out);
    EXPECT_EQ(abortscope(words + "--jobs 16").out, first.out);
    EXPECT_NE(abortscope(words + "--seed 77").out, first.out);
}

TEST(Run, GivesTheSameBytesOnAServerOf448CpusWithAnyNumberOfJobs) {
    const std::string words =
        "run ovs-hmap --machine model:sapphire-rapids --sockets 4 --threads 256 --n 150 --csv - ";
    const Outcome first = abortscope(words + "--jobs 1");
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_THAT(first.out, HasSubstr(",256,"));
    EXPECT_EQ(abortscope(words + "--jobs 2").out, first.out);
}

TEST(Run, SharesOfASweepAreTheWholeSweep) {
    const std::string words = "run ovs-hmap --n 200 --mutation 2,10 --threads 1,2,3 --csv - ";
    std::vector<std::string> whole = lines_of(abortscope(words).out);
    std::vector<std::string> together;
    for (const char* shard : {"1/3", "2/3", "3/3"}) {
        const auto lines = lines_of(abortscope(words + "--shard " + shard).out);
        ASSERT_GT(lines.size(), 1u);
        EXPECT_EQ(lines[0], whole[0]);
        together.insert(together.end(), lines.begin() + 1, lines.end());
    }
    whole.erase(whole.begin());
    EXPECT_THAT(together, testing::UnorderedElementsAreArray(whole));
}

TEST(Run, KeepsStandardOutputForTheCsvAlone) {
    const Outcome outcome = abortscope("run ovs-hmap --n 200 --csv -");
    for (const std::string& line : lines_of(outcome.out)) {
        EXPECT_THAT(line, testing::AnyOf(StartsWith("schema_version,"), StartsWith("1,ovs-hmap,")));
    }
}

TEST(Run, SaysNearestNames) {
    expect_refusal("run ovs-hmpa", 2, "unknown scenario 'ovs-hmpa'; did you mean 'ovs-hmap'?");
    expect_refusal("rnu ovs-hmap", 2, "unknown command 'rnu'; did you mean 'run'?");
    expect_refusal("run ovs-hmap --policy ovs2061", 2, "did you mean 'ovs2016'?");
    expect_refusal("run ovs-hmap --machine model:haswel", 2, "did you mean 'model:haswell'?");
    expect_refusal("run ovs-hmap --machine modle", 2, "unknown machine 'modle'");
    expect_refusal("run ovs-hmap --lock fat-rwlok", 2, "did you mean 'fat-rwlock'?");
    expect_refusal("run ovs-hmap --treads 4", 2, "did you mean '--threads'?");
    expect_refusal("run ovs-hmap --set mutation_pc=4", 2, "did you mean 'mutation_pct'?");
}

TEST(Run, RefusesWhatMakesNoSense) {
    expect_refusal("", 2, "no command");
    expect_refusal("run", 2, "no scenario");
    expect_refusal("run ovs-hmap --mutation 200", 2, "from 0 to 100, not '200'");
    expect_refusal("run ovs-hmap --threads 0", 2, "not '0'");
    expect_refusal("run ovs-hmap --n -5", 2, "not '-5'");
    expect_refusal("run ovs-hmap --threads 1,,2", 2, "empty element");
    expect_refusal("run ovs-hmap --mutation 2 5", 2, "'5' is a word too many");
    expect_refusal("run ovs-hmap --n 1 --n 2", 2, "--n is given twice");
    expect_refusal("run ovs-hmap --n 1 --set n=2", 2, "given twice");
    expect_refusal("run ovs-hmap --n", 2, "--n needs a value");
    expect_refusal("run ovs-hmap --n= 5", 2, "has no value");
    expect_refusal("run ovs-hmap --set n", 2, "NAME=LIST");
    expect_refusal("run ovs-hmap --cpus 9", 2, "has 8 CPUs");
    expect_refusal("run ovs-hmap --n " + std::string(300, '9'), 2, "a whole number");
}

TEST(Run, TakesTheWorkersOfEachCpuInsteadOfTheWorkers) {
    const std::string words = "run ebizzy --dry-run --commit-ratio 0.5,1,1.5 ";
    const std::vector<std::string> all = lines_of(abortscope(words + "--cpus 3,8").out);
    ASSERT_THAT(all, SizeIs(6));
    const char* expected[] = {"--threads 2 --cpus 3", "--threads 3 --cpus 3",
                              "--threads 5 --cpus 3", "--threads 4 --cpus 8",
                              "--threads 8 --cpus 8", "--threads 12 --cpus 8"};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_THAT(all[i], HasSubstr(expected[i]));
    EXPECT_THAT(abortscope(words + "--machine model:sandybridge-2s").out,
                HasSubstr("--threads 48 "));

    expect_refusal("run ebizzy --commit-ratio 1 --threads 2", 2, "exclude each other");
    expect_refusal("run ebizzy --commit-ratio 0.5,x", 2, "a number above 0 and up to 64, not 'x'");
    expect_refusal("run ebizzy --commit-ratio 0", 2, "not '0'");
    expect_refusal("run ebizzy --commit-ratio 1e9", 2, "not '1e9'");
    expect_refusal("run ebizzy --commit-ratio 1,,2", 2, "empty element");
    expect_refusal("run ebizzy --commit-ratio 0.01", 2, "of 8 CPUs that is 0 workers");
    expect_refusal("run ebizzy --commit-ratio 1,1.01", 2, "two of them are 8 workers on 8 CPUs");
}

TEST(Run, SaysBeforeAnyTrialThatTheCsvCannotBeWritten) {
    expect_refusal("run ovs-hmap --n 50000000 --csv /no/such/folder/x.csv", 1,
                   "cannot write /no/such/folder/x.csv: No such file or directory");
    expect_refusal("run ovs-hmap --n 50000000 --csv /dev/full", 1, "No space left on device");
}

TEST(Run, RunsOnAPresetOfTheUsersOwn) {
    const TemporaryFolder folder;
    const std::string file = folder.file("slow.json");
    std::ofstream(file) << R"({"derived_from": "haswell", "memory_cycles": 900})";
    const Outcome slow = abortscope("run ovs-hmap --n 500 --csv - --machine model:" + file);
    EXPECT_EQ(slow.code, 0) << slow.err;
    EXPECT_THAT(slow.out, HasSubstr(",model:" + file + ","));
    expect_refusal("run ovs-hmap --machine model:" + folder.file("none.json"), 1, "none.json");
    std::ofstream(file) << R"({"derived_from": "haswell", "memory_cycle": 900})";
    expect_refusal("run ovs-hmap --machine model:" + file, 1, "memory_cycle");
}

TEST(Run, LeavesTheOldCsvAloneWhereTheCommandIsRefused) {
    const TemporaryFolder folder;
    const std::string csv = folder.file("x.csv");
    EXPECT_EQ(shell("echo old >" + csv + "; \"$ABORTSCOPE\" run ovs-hmap --n 0 --csv " + csv).code,
              2);
    EXPECT_EQ(contents_of(csv), "old\n");
}

TEST(Run, SaysInOneLineThatStandardOutputIsClosed) {
    const Outcome closed = abortscope("run ovs-hmap --n 100 >&-");
    EXPECT_EQ(closed.code, 1);
    EXPECT_THAT(closed.err, EndsWith("cannot write standard output: it is closed\n"));

    const Outcome full = abortscope("run ovs-hmap --n 100 >/dev/full");
    EXPECT_EQ(full.code, 1);
    EXPECT_THAT(full.err, HasSubstr("cannot write standard output: No space left on device"));

    const Outcome pipe = shell(
        "{ \"$ABORTSCOPE\" run ovs-hmap --n 100 --mutation 1,2,3,4 --csv -; echo $? >&2; } | true");
    EXPECT_THAT(pipe.err, HasSubstr("cannot write standard output: it is closed"));
    EXPECT_THAT(pipe.err, EndsWith("\n1\n"));
}

TEST(Run, AClosedDescriptorIsNotGivenToTheCsv) {
    const TemporaryFolder folder;
    const Outcome outcome =
        abortscope("run ovs-hmap --n 100 --csv " + folder.file("x.csv") + " >&-");
    EXPECT_EQ(outcome.code, 1);
    for (const std::string& line : lines_of(contents_of(folder.file("x.csv")))) {
        EXPECT_THAT(line, testing::AnyOf(StartsWith("schema_version,"), StartsWith("1,ovs-hmap,")));
    }
}

TEST(Run, WritesFinishedRowsWholeWhenInterrupted) {
    const TemporaryFolder folder;
    const std::string csv = folder.file("x.csv");
    RunningProgram program(
        {"run", "ovs-hmap", "--n", "2000", "--repeat", "1000000", "--jobs", "2", "--csv", csv});
    while (lines_of(contents_of(csv)).size() < 9 && program.is_running()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    program.signal(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 130);
    EXPECT_THAT(outcome.err, HasSubstr("interrupted: "));
    EXPECT_THAT(outcome.out, StartsWith("ovs-hmap on model:haswell"));
    const std::string text = contents_of(csv);
    EXPECT_THAT(text, EndsWith("\n"));
    const auto lines = lines_of(text);
    EXPECT_EQ((lines.size() - 1) % 4, 0u) << "trials are written whole";
    for (const std::string& line : lines) {
        EXPECT_EQ(std::count(line.begin(), line.end(), ','),
                  std::count(lines[0].begin(), lines[0].end(), ','));
    }
}

TEST(Run, NamesTheTrialsThatHaveEndedWhenInterrupted) {
    const TemporaryFolder folder;
    // The first trial is at work long after the second one has ended.
    RunningProgram program({"run", "lemming", "--policy", "ovs2016", "--set",
                            "sections=100000000,2000", "--jobs", "2", "--hot-lines"});
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    program.signal(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("Hottest lines of "));
    EXPECT_THAT(outcome.out, Not(HasSubstr("100000000"))) << "it names a trial that has not ended";
}

TEST(Run, RunsThePlainLockOnThisComputer) {
    const Outcome outcome =
        abortscope("run ovs-hmap --machine native --n 1000 --threads 2 --csv -");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(",native,fat-rwlock,none,2,"));
    if (!native::rtm_commits()) {
        EXPECT_THAT(outcome.out, Not(HasSubstr("ovs2016")));
        EXPECT_THAT(outcome.err, HasSubstr("only --policy none runs there"));
    }
}

TEST(Run, CountsOnThisComputerOrSaysWhyNot) {
    const Outcome outcome =
        abortscope("run ovs-hmap --machine native --policy none --n 20000 --threads 2 --csv -");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const CsvTable table = CsvTable::parse(outcome.out, "rows");
    const std::size_t search = 2;
    ASSERT_EQ(table.text(search, "phase"), "search");
    EXPECT_GT(table.number(search, "task_clock_ns").value_or(0), 0);
    EXPECT_TRUE(table.number(search, "page_faults").has_value());
    EXPECT_EQ(table.text(search, "time_source"), "hw");
    if (table.text(search, "tx_start").empty()) {
        EXPECT_EQ(table.text(search, "counter_source"), "absent");
        EXPECT_THAT(outcome.err, HasSubstr("counters without a value on native: "));
        EXPECT_THAT(table.text(search, "absent_reason"), Not(IsEmpty()));
    }
}

TEST(Run, DemandsOfThisComputerWhatItCannotMeasure) {
    if (native::rtm_commits()) GTEST_SKIP() << "RTM works on this computer";
    expect_refusal("run ovs-hmap --machine native --policy ovs2016 --csv /no/such/x.csv", 3,
                   "--policy ovs2016 needs RTM");
}

TEST(Run, DryRunPrintsACommandForEachTrialThatGivesItsRowsAgain) {
    const std::string words =
        "run ovs-hmap --n 200 --mutation 5,10 --policy none,ovs2016 --repeat 2 ";
    const auto commands = lines_of(abortscope(words + "--dry-run").out);
    ASSERT_THAT(commands, SizeIs(8));
    const CsvTable whole = CsvTable::parse(abortscope(words + "--csv -").out, "sweep");
    for (std::size_t i = 0; i < commands.size(); ++i) {
        ASSERT_THAT(commands[i], StartsWith("abortscope run "));
        const std::string again = commands[i].substr(std::string("abortscope ").size());
        const CsvTable one = CsvTable::parse(abortscope(again + " --csv -").out, again);
        for (std::size_t row = 0; row < one.rows(); ++row) {
            EXPECT_EQ(one.text(row, "duration_ns"), whole.text(4 * i + row, "duration_ns"));
        }
    }
}

TEST(Run, QuietSaysNothingBesideItsResults) {
    EXPECT_EQ(abortscope("run ovs-hmap --n 100 --quiet").err, "");
    EXPECT_EQ(abortscope("run ovs-hmap --n 100 --machine native --quiet").err, "");
}

TEST(Run, VerboseTellsThePlanAndEachTrial) {
    const TemporaryFolder folder;
    const std::string csv = folder.file("x.csv");
    const Outcome outcome = abortscope(
        "run ovs-hmap --n 100 --policy ovs2016 --repeat 2 --seed 7 --verbose --csv " + csv);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("2 trials, at most"));
    EXPECT_THAT(outcome.err, HasSubstr("writes --csv " + csv));
    EXPECT_THAT(outcome.err, HasSubstr("trial 1 of 2: seed 7, "));
    EXPECT_THAT(outcome.err, HasSubstr("trial 2 of 2: seed 8, "));
    EXPECT_THAT(outcome.out, Not(HasSubstr("seed 7, ")));
    const Outcome native = abortscope("run ovs-hmap --n 100 --machine native --policy none -v");
    EXPECT_THAT(native.err, HasSubstr("counters on native: "));
    expect_refusal("run ovs-hmap --quiet --verbose", 2, "--quiet and --verbose exclude each other");
}

TEST(Run, HintsAreSilentWhereTheirOptionWasGivenAndWithQuiet) {
    const std::string words = "run ovs-hmap --n 1000 --mutation 10 --policy none,ovs2016 ";
    const std::string plain = abortscope(words).err;
    EXPECT_THAT(plain, HasSubstr("hint: most aborts are conflicts: --hot-lines names the lines"));
    EXPECT_THAT(abortscope(words + "--hot-lines").err, Not(HasSubstr("--hot-lines")));
    EXPECT_THAT(abortscope(words + "--hot-lines").err, HasSubstr("--repeat 5"));
    EXPECT_THAT(abortscope(words + "--hot-lines --repeat 1").err, Not(HasSubstr("--repeat 5")));
    EXPECT_EQ(abortscope(words + "--quiet").err, "");
}

TEST(Color, IsOnlyOnATerminalUnlessAskedFor) {
    const std::string words = "run ovs-hmap --n 100 --policy none,ovs2016 --quiet";
    const std::string escape = "\x1b[";
    const std::string piped = abortscope(words).out;
    EXPECT_THAT(piped, Not(HasSubstr(escape)));
    EXPECT_EQ(abortscope(words + " --color never").out, piped);
    const std::string painted = abortscope(words + " --color always").out;
    EXPECT_THAT(painted, HasSubstr(escape + "1mphase" + escape + "0m"));
    EXPECT_THAT(abortscope("run nothing --color always").err, StartsWith(escape + "31m"));
    EXPECT_THAT(abortscope("run nothing").err, Not(HasSubstr(escape)));
    expect_refusal("run ovs-hmap --color blue", 2, "--color takes auto, always or never");

    if (shell("command -v script").code != 0) GTEST_SKIP() << "no script(1), which makes terminals";
    const auto on_terminal = [&](const std::string& environment, const std::string& options) {
        return shell(environment +
                     " TERM=xterm ABORTSCOPE=\"$ABORTSCOPE\" script -qec '\"$ABORTSCOPE\" " +
                     words + options + "' /dev/null </dev/null")
            .out;
    };
    EXPECT_THAT(on_terminal("NO_COLOR=", ""), HasSubstr(escape));
    EXPECT_THAT(on_terminal("NO_COLOR=", " --color never"), Not(HasSubstr(escape)));
    EXPECT_THAT(on_terminal("NO_COLOR=1", ""), Not(HasSubstr(escape)));
    EXPECT_THAT(on_terminal("NO_COLOR=1", " --color always"), HasSubstr(escape));
}

TEST(Run, HelpExplainsTheOptionsOfScenarios) {
    const Outcome outcome = abortscope("run --help");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.err, IsEmpty());
    EXPECT_THAT(outcome.out, HasSubstr("--mutation"));
    EXPECT_THAT(outcome.out, HasSubstr("Usage: abortscope run"));
}

TEST(List, ShowsScenariosPoliciesAndMachines) {
    const Outcome all = abortscope("list");
    EXPECT_EQ(all.code, 0);
    for (const char* name :
         {"ovs-hmap", "ovs-cmap", "ovs2016", "kleen-wait", "model:haswell", "native"}) {
        EXPECT_THAT(all.out, HasSubstr(name));
    }
    const Outcome one = abortscope("list ovs-hmap");
    EXPECT_EQ(one.code, 0);
    EXPECT_THAT(one.out, HasSubstr("--mutation"));
    expect_refusal("list ovs-hmpa", 2, "did you mean 'ovs-hmap'?");
}

TEST(Columns, ArePublishedAsTheyAre) {
    EXPECT_EQ(abortscope("columns --markdown").out, contents_of(ABORTSCOPE_SOURCE "/docs/csv.md"))
        << "make it again: abortscope columns --markdown >docs/csv.md";
    EXPECT_EQ(abortscope("columns --json-schema").out,
              contents_of(ABORTSCOPE_SOURCE "/docs/schema.json"))
        << "make it again: abortscope columns --json-schema >docs/schema.json";
    EXPECT_THAT(abortscope("columns").out, HasSubstr("duration_ns"));
}

TEST(Program, SaysItsVersionAndItsCommands) {
    EXPECT_THAT(abortscope("--version").out, StartsWith("abortscope "));
    const Outcome help = abortscope("--help");
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("run"));
}

}  // namespace
}  // namespace abortscope
