// SPDX-License-Identifier: Apache-2.0
//
// `run --trace`: the file is what the Trace Event Format asks for, and says what the rows say.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "primitives/rtm_status.hpp"
#include "reports/csv_table.hpp"
#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Json = nlohmann::json;

struct Traced {
    Outcome outcome;
    Json trace;
    CsvTable rows;
};

Traced traced(const std::string& words) {
    const TemporaryFolder folder;
    const Outcome outcome =
        abortscope("run " + words + " --trace " + folder.file("t.json") + " --csv -");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return {outcome, Json::parse(contents_of(folder.file("t.json"))),
            CsvTable::parse(outcome.out, "rows")};
}

/// Simulated time is written with nanoseconds as decimals: whole numbers make exact sums.
std::int64_t ns(const Json& microseconds) {
    return std::llround(microseconds.get<double>() * 1e3);
}

/// What the format asks of each type of event, times that never decrease, spans that lie beside or
/// inside each other on their track, and arrows with one start and one end inside a span.
void expect_well_formed(const Json& trace) {
    const std::map<std::string, std::vector<const char*>> required{
        {"M", {"name", "pid", "args"}},
        {"X", {"name", "cat", "pid", "tid", "ts", "dur"}},
        {"s", {"name", "cat", "pid", "tid", "ts", "id"}},
        {"f", {"name", "cat", "pid", "tid", "ts", "id", "bp"}},
        {"i", {"name", "cat", "pid", "tid", "ts", "s"}}};
    std::set<int> named;
    std::map<int, std::vector<std::int64_t>> open;  // ends of the spans around, by track
    std::map<std::int64_t, std::int64_t> starts;
    std::set<std::int64_t> ends;
    std::int64_t last = 0;
    ASSERT_TRUE(trace.at("traceEvents").is_array());
    for (const Json& event : trace["traceEvents"]) {
        const std::string type = event.at("ph");
        ASSERT_TRUE(required.contains(type)) << event;
        for (const char* key : required.at(type)) ASSERT_TRUE(event.contains(key)) << event;
        if (type == "M") {
            if (event["name"] == "thread_name") named.insert(event["tid"].get<int>());
            continue;
        }
        const std::int64_t time = ns(event["ts"]);
        ASSERT_GE(time, last) << event;
        last = time;
        const int track = event["tid"];
        ASSERT_TRUE(named.contains(track)) << event;
        std::vector<std::int64_t>& around = open[track];
        if (type == "X") {
            const std::int64_t end = time + ns(event["dur"]);
            while (!around.empty() && around.back() <= time) around.pop_back();
            ASSERT_TRUE(around.empty() || end <= around.back()) << event;
            around.push_back(end);
        } else if (type == "s") {
            ASSERT_TRUE(starts.emplace(event["id"].get<std::int64_t>(), time).second) << event;
        } else if (type == "f") {
            ASSERT_TRUE(ends.insert(event["id"].get<std::int64_t>()).second) << event;
            ASSERT_EQ(starts.at(event["id"].get<std::int64_t>()), time) << event;
        }
        if (type == "s" || type == "f") {
            ASSERT_TRUE(std::any_of(around.begin(), around.end(), [&](std::int64_t end) {
                return end >= time;
            })) << event;
        }
    }
    EXPECT_EQ(starts.size(), ends.size());
}

double sum_of(const CsvTable& rows, const std::string& column) {
    double sum = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row) sum += rows.number(row, column).value_or(0);
    return sum;
}

std::map<std::string, double> spans_by_name(const Json& trace) {
    std::map<std::string, double> count;
    for (const Json& event : trace["traceEvents"]) {
        if (event["ph"] == "X") ++count[event["name"].get<std::string>()];
    }
    return count;
}

/// Commits, aborts and their causes in the trace are those of the rows.
void expect_same_counts(const Traced& run) {
    std::map<std::string, double> spans = spans_by_name(run.trace);
    EXPECT_EQ(spans["transaction"], sum_of(run.rows, "tx_commit"));
    EXPECT_EQ(spans["roll-back"], sum_of(run.rows, "tx_abort"));
    double aborts = 0;
    for (const std::string_view cause : rtm::cause_names) {
        const std::string name(cause);
        EXPECT_EQ(spans["aborted: " + name], sum_of(run.rows, "cause_" + name)) << name;
        aborts += spans["aborted: " + name];
    }
    EXPECT_EQ(aborts, sum_of(run.rows, "tx_abort"));
}

TEST(Trace, HasTheTransactionsOfTheRowsAndIsWellFormed) {
    for (const char* words :
         {"ovs-hmap --n 1000 --mutation 10 --policy ovs2016", "ovs-hmap --n 300 --policy none",
          "lemming --policy kleen-wait --set sections=500 --set real_every=50", "rtm-conflict",
          "rtm-capacity", "ovs-cmap --n 500 --policy ovs2016",
          "lemming --policy ovs2016 --threads 12 --cpus 4 --set sections=500"}) {
        SCOPED_TRACE(words);
        const Traced run = traced(std::string(words) + " --trace-limit 1000000");
        expect_well_formed(run.trace);
        expect_same_counts(run);
    }
}

TEST(Trace, NamesWhoAbortedWhomOverWhichBytes) {
    const Traced run = traced("ovs-hmap --n 1000 --mutation 10 --policy ovs2016");
    std::size_t conflicts = 0;
    std::size_t arrows = 0;
    for (const Json& event : run.trace["traceEvents"]) {
        if (event["ph"] == "s") ++arrows;
        if (event["name"] != "aborted: conflict") continue;
        ++conflicts;
        const Json& about = event.at("args");
        EXPECT_EQ(about.at("cause"), "conflict");
        EXPECT_THAT(about.at("status").get<std::string>(), testing::AnyOf("0x6", "0x26"));
        EXPECT_THAT(about.at("killer").get<std::string>(), HasSubstr("worker "));
        EXPECT_THAT(about.at("object").get<std::string>(), testing::Not(IsEmpty()));
        EXPECT_TRUE(about.contains("killer_wrote_bytes") || about.contains("killer_read_bytes"));
        EXPECT_TRUE(about.contains("read_bytes") || about.contains("written_bytes"));
    }
    EXPECT_GT(conflicts, 0u);
    EXPECT_GE(arrows, conflicts);
}

TEST(Trace, ShowsLocksHeldAndWaitedForAndWhereWorkersRun) {
    const Traced run = traced(
        "lemming --policy none --threads 12 --cpus 4 --lock futex-mutex --set sections=100 "
        "--set real_every=0");
    const std::map<std::string, double> spans = spans_by_name(run.trace);
    std::map<std::string, double> kinds;
    for (const auto& [name, count] : spans) kinds[name.substr(0, name.find(' '))] += count;
    EXPECT_EQ(kinds["holds"], sum_of(run.rows, "acquisitions"));
    EXPECT_GT(kinds["waits"], 0);
    EXPECT_GT(kinds["futex:"], 0);
    EXPECT_GT(kinds["CPU"], 12);
}

TEST(Trace, WatchingChangesNothing) {
    const std::string words = "ovs-hmap --n 1000 --mutation 10 --policy ovs2016";
    EXPECT_EQ(traced(words).outcome.out, abortscope("run " + words + " --csv -").out);
}

TEST(Trace, SaysWhereItsLimitWasReached) {
    const Traced run = traced("ovs-hmap --n 2000 --mutation 10 --policy ovs2016 --trace-limit 500");
    expect_well_formed(run.trace);
    EXPECT_THAT(run.outcome.err, HasSubstr("search is recorded for its first 500 spans"));
    std::size_t marks = 0;
    for (const Json& event : run.trace["traceEvents"]) {
        if (event["ph"] == "i") ++marks;
    }
    EXPECT_GE(marks, 1u);
    // Every phase has its room, and its whole length.
    std::map<std::string, double> spans = spans_by_name(run.trace);
    for (const char* phase : {"insert", "iterate", "search", "destroy"}) {
        EXPECT_GE(spans[phase], 1) << phase;
    }
    EXPECT_LT(run.trace["traceEvents"].size(), 4u * 500 * 2);
}

TEST(Trace, IsRefusedInOneLine) {
    const TemporaryFolder folder;
    const std::string file = folder.file("t.json");
    const auto expect_refusal = [&](const std::string& words, int code, const std::string& line) {
        const Outcome outcome = abortscope("run " + words);
        EXPECT_EQ(outcome.code, code) << words;
        EXPECT_THAT(lines_of(outcome.err), SizeIs(1)) << words;
        EXPECT_THAT(outcome.err, HasSubstr(line)) << words;
        EXPECT_EQ(outcome.out, "") << words;
    };
    expect_refusal("ovs-hmap --mutation 2,5 --policy none,ovs2016 --trace " + file, 2,
                   "--trace records one trial; this sweep has 4");
    expect_refusal("ovs-hmap --machine native --policy none --trace " + file, 2,
                   "--trace needs a model machine");
    expect_refusal("ovs-hmap --policy none --trace-limit 5", 2, "--trace-limit goes with --trace");
    expect_refusal("ovs-hmap --policy none --trace-limit 0 --trace " + file, 2, "not '0'");
    expect_refusal("ovs-hmap --policy none --csv - --trace -", 2, "two files go to -");
    expect_refusal("ovs-hmap --policy none --trace /no/such/t.json", 1, "cannot write");
    EXPECT_EQ(shell("test -e " + file).code, 1) << "a refused command leaves no file";
}

}  // namespace
}  // namespace abortscope
