// SPDX-License-Identifier: Apache-2.0
//
// `abortscope compare` as its user meets it.
#include <gmock/gmock.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/csv_table.hpp"
#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class Compare : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<TemporaryFolder>();
        const std::string sweep =
            "run ovs-hmap --n 1500 --mutation 2,5,10 --policy none,ovs2016 --repeat 5 --csv ";
        ASSERT_EQ(abortscope(sweep + file("a.csv")).code, 0);
        ASSERT_EQ(abortscope(sweep + file("b.csv") + " --seed 1000").code, 0);
        // The same as b, with 10 % less throughput and 3 percentage points more aborts.
        change("b.csv", "worse.csv", [](const std::string& column, double value) {
            if (column == "operations_per_s") return value * 0.9;
            return column == "abort_rate" ? value + 0.03 : value;
        });
    }
    static void TearDownTestSuite() { folder.reset(); }

    static std::string file(const std::string& name) { return folder->file(name); }

    template <class F>
    static void change(const std::string& from, const std::string& to, F f) {
        const CsvTable table = CsvTable::read(file(from));
        std::ofstream out(file(to));
        for (std::size_t i = 0; i < table.columns().size(); ++i) {
            out << (i == 0 ? "" : ",") << table.columns()[i];
        }
        out << '\n';
        for (std::size_t row = 0; row < table.rows(); ++row) {
            for (std::size_t i = 0; i < table.columns().size(); ++i) {
                const std::string& column = table.columns()[i];
                const std::string& cell = table.text(row, column);
                out << (i == 0 ? "" : ",");
                const bool is_number = column == "operations_per_s" || column == "abort_rate";
                if (is_number && !cell.empty()) {
                    out << f(column, *table.number(row, column));
                } else {
                    out << cell;
                }
            }
            out << '\n';
        }
    }

    static std::unique_ptr<TemporaryFolder> folder;
};

std::unique_ptr<TemporaryFolder> Compare::folder;

const std::string conditions = " --fail-if 'operations_per_s < -5%' --fail-if 'abort_rate > +2pp'";

TEST_F(Compare, TwoSeedsOfTheSameThingAreNotSignificant) {
    const Outcome outcome =
        abortscope("compare " + file("a.csv") + " " + file("b.csv") + conditions);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(" 0 worse"));
    EXPECT_THAT(outcome.out, HasSubstr("not significant"));
}

TEST_F(Compare, AnInjectedRegressionIsFoundAndFailsTheBuild) {
    const Outcome outcome =
        abortscope("compare " + file("a.csv") + " " + file("worse.csv") + conditions);
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.err, HasSubstr("operations_per_s < -5%: "));
    EXPECT_THAT(outcome.err, HasSubstr("abort_rate > +2pp: "));
    EXPECT_THAT(outcome.out, HasSubstr("worse"));
    EXPECT_EQ(abortscope("compare " + file("a.csv") + " " + file("worse.csv")).code, 0);
}

TEST_F(Compare, ShowsAbortRateAlongMutation) {
    const Outcome outcome =
        abortscope("compare " + file("a.csv") +
                   " --by mutation_pct --baseline 2 --metric abort_rate --csv " + file("c.csv"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("abort_rate, lower is better"));
    EXPECT_THAT(outcome.out, HasSubstr("95 % interval"));
    // Aborts rise with mutation: two levels, one policy that elides, one phase.
    const auto lines = lines_of(contents_of(file("c.csv")));
    ASSERT_THAT(lines, SizeIs(3));
    EXPECT_THAT(lines[1], testing::EndsWith(",worse"));
    EXPECT_THAT(lines[2], testing::EndsWith(",worse"));
}

TEST_F(Compare, AllFormsAgree) {
    const Outcome outcome = abortscope("compare " + file("a.csv") + " " + file("worse.csv") +
                                       " --json " + file("c.json") + " --csv " + file("c.csv") +
                                       " --markdown " + file("c.md") + " --html " + file("c.html"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json report = json::parse(contents_of(file("c.json")));
    const auto lines = lines_of(contents_of(file("c.csv")));
    ASSERT_EQ(report["changes"].size(), lines.size() - 1);
    for (std::size_t i = 0; i < report["changes"].size(); ++i) {
        const json& change = report["changes"][i];
        EXPECT_THAT(lines[i + 1],
                    testing::StartsWith(change["metric"].get<std::string>() + ",ovs-hmap,"));
        EXPECT_THAT(lines[i + 1], testing::EndsWith(',' + change["verdict"].get<std::string>()));
    }
    EXPECT_THAT(contents_of(file("c.md")), HasSubstr("**abort_rate, lower is better**"));
    const std::string page = contents_of(file("c.html"));
    const std::string start = R"(id="report">)";
    const std::size_t from = page.find(start) + start.size();
    EXPECT_EQ(json::parse(page.substr(from, page.find("</script>", from) - from)), report);
}

TEST_F(Compare, ListsRowsOfOnlyOneSide) {
    ASSERT_EQ(abortscope("run ovs-hmap --n 1500 --mutation 2,20 --csv " + file("other.csv")).code,
              0);
    const Outcome outcome = abortscope("compare " + file("a.csv") + " " + file("other.csv"));
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("Only in " + file("a.csv")));
    EXPECT_THAT(outcome.out, HasSubstr("Only in " + file("other.csv")));
    EXPECT_THAT(outcome.out, HasSubstr("too few"));
}

TEST_F(Compare, TakesCrlfOlderAndConcatenatedFiles) {
    const std::string a = file("a.csv");
    EXPECT_EQ(shell("sed 's/$/\\r/' " + a + " >" + file("crlf.csv") +
                    " && \"$ABORTSCOPE\" compare " + a + " " + file("crlf.csv"))
                  .code,
              0);
    EXPECT_EQ(shell("cat " + a + " " + file("b.csv") + " >" + file("both.csv") +
                    " && \"$ABORTSCOPE\" compare " + a + " " + file("both.csv"))
                  .code,
              0);
    // Before a column existed: the last one is cut away everywhere.
    EXPECT_EQ(shell("cut -d, -f1-40 " + a + " >" + file("older.csv") +
                    " && \"$ABORTSCOPE\" compare " + file("older.csv") + " " + a)
                  .code,
              0);
    EXPECT_EQ(shell("\"$ABORTSCOPE\" compare - " + a + " <" + a).code, 0);
}

TEST_F(Compare, SaysInOneLineWhatIsWrongWithAFile) {
    const std::string a = file("a.csv");
    const auto expect_line = [&](const std::string& make, int code, const std::string& says) {
        const std::string broken = file("broken.csv");
        const Outcome outcome =
            shell(make + " >" + broken + "; \"$ABORTSCOPE\" compare " + a + " " + broken);
        EXPECT_EQ(outcome.code, code) << make;
        EXPECT_THAT(lines_of(outcome.err), SizeIs(1)) << make << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(says)) << make;
        EXPECT_EQ(outcome.out, "") << make;
    };
    expect_line("true", 1, "is empty");
    expect_line("head -1 " + a, 1, "no rows");
    expect_line("head -c 3000 " + a, 1, "cut off");
    expect_line("echo hello", 1, "no header");
    expect_line("printf '\\377\\376'", 1, "not UTF-8");
    expect_line("sed '2s/^1,/9,/' " + a, 1, "schema 9 is newer");
    expect_line("sed '3s/,4,8,/,4,8,extra,/' " + a, 1, "line 3");
    expect_line("cat /bin/true", 1, "broken.csv");
    const Outcome none = abortscope("compare " + a + " /no/such.csv");
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("cannot read /no/such.csv"));
}

TEST_F(Compare, RefusesWhatMakesNoSense) {
    const std::string a = file("a.csv");
    const auto code = [](const std::string& words) { return abortscope("compare " + words).code; };
    EXPECT_EQ(code(""), 2);
    EXPECT_EQ(code(a), 2);
    EXPECT_EQ(code(a + " " + a + " --by policy --baseline none"), 2);
    EXPECT_EQ(code(a + " --by policy"), 2);
    EXPECT_EQ(code(a + " --by polciy --baseline none"), 2);
    EXPECT_EQ(code(a + " --by policy --baseline ck"), 2);
    EXPECT_EQ(code(a + " " + a + " --metric abortrate"), 2);
    EXPECT_EQ(code(a + " " + a + " --fail-if 'abort_rate'"), 2);
}

TEST_F(Compare, AConditionThatNothingCanMeetIsNotGreen) {
    const Outcome outcome = shell("cut -d, -f1-15 " + file("a.csv") + " >" + file("short.csv") +
                                  "; \"$ABORTSCOPE\" compare " + file("short.csv") + " " +
                                  file("short.csv") + " --fail-if 'abort_rate > 2pp'");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("no matching rows have a number for abort_rate"));
}

}  // namespace
}  // namespace abortscope
