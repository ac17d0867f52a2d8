// SPDX-License-Identifier: Apache-2.0
//
// The same rows in every format, number for number.
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/csv.hpp"
#include "reports/csv_table.hpp"
#include "reports/html/html.hpp"
#include "reports/json.hpp"
#include "reports/markdown.hpp"
#include "reports/text_table.hpp"
#include "tests/reports/sample_rows.hpp"

namespace abortscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const ReportContext context{{"abortscope", "run", "ovs-hmap", "--mutation", "2,10"},
                            {{"version", "0.1.0"}},
                            {{"system", "Linux"}}};

class Exports : public testing::Test {
  protected:
    Exports() {
        // Something of every kind of cell: absent with a reason, text to quote, a tiny rate.
        Measurement& row = sample.rows.front();
        row.counters[index_of(Counter::tx_start)] = Reading::missing("no PMU, \"here\" </script>");
        row.log->explicit_codes[0xfd] = 3;
        sample.rows[1].log->attempts = 900'000'000;
    }

    CsvTable csv() const {
        std::string text = csv_header(sample.columns);
        for (const Measurement& row : sample.rows) text += csv_line(sample.columns, row);
        return CsvTable::parse(text, "rows");
    }

    std::string in_json(const json& value) const {
        if (value.is_null()) return "";
        if (value.is_string()) return value.get<std::string>();
        if (value.is_number_float()) return to_text(Cell{value.get<double>()});
        return value.dump();
    }

    SampleRows sample{{"none", "ovs2016", "kleen-wait"}, 5};
};

TEST_F(Exports, JsonHasTheNumbersOfTheCsv) {
    const json report = json::parse(json_report(sample.rows, sample.columns, context));
    const CsvTable table = csv();
    ASSERT_EQ(report["rows"].size(), table.rows());
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (const Column& column : sample.columns) {
            EXPECT_EQ(in_json(report["rows"][row][std::string(column.name)]),
                      table.text(row, column.name))
                << column.name << " of row " << row;
        }
    }
}

TEST_F(Exports, JsonSaysHowItWasMadeAndWhyNumbersAreAbsent) {
    const json report = json::parse(json_report(sample.rows, sample.columns, context));
    EXPECT_EQ(report["schema_version"], schema_version);
    EXPECT_EQ(report["command"], "abortscope run ovs-hmap --mutation 2,10");
    EXPECT_EQ(report["build"]["version"], "0.1.0");
    EXPECT_EQ(report["columns"].size(), sample.columns.size());
    EXPECT_EQ(report["absent"][0]["tx_start"], "no PMU, \"here\" </script>");
    EXPECT_TRUE(report["rows"][0]["tx_start"].is_null());
    EXPECT_TRUE(report["absent"][1].empty());
}

TEST_F(Exports, HtmlHoldsTheJsonWholeAndNoScriptEndsEarly) {
    const std::string page = html_report(sample.rows, sample.columns, context);
    const std::string start = R"(<script type="application/json" id="report">)";
    const std::size_t from = page.find(start) + start.size();
    const std::string data = page.substr(from, page.find("</script>", from) - from);
    EXPECT_EQ(json::parse(data), json::parse(json_report(sample.rows, sample.columns, context)));
    EXPECT_THAT(data, Not(HasSubstr("<")));
}

TEST_F(Exports, HtmlNeedsNoNetwork) {
    const std::string page = html_report(sample.rows, sample.columns, context);
    for (const char* loads : {"<link", "src=\"", "@import", "url(", "fetch(", "{{"}) {
        // What Chart.js itself contains is code, not a request.
        const std::string ours = page.substr(0, page.find("Chart.js v"));
        EXPECT_THAT(ours, Not(HasSubstr(loads)));
    }
    EXPECT_THAT(page, HasSubstr("Chart.js v"));
}

TEST_F(Exports, MarkdownHasTheNumbersOfTheCsv) {
    const std::string page = markdown_report(sample.rows, sample.columns, context);
    const CsvTable table = csv();
    std::istringstream lines(page.substr(page.find("<details>")));
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ")) continue;
        std::vector<std::string> cells;
        std::istringstream fields(line.substr(2));
        for (std::string cell; std::getline(fields, cell, '|');) {
            const std::size_t from = cell.find_first_not_of(' ');
            const std::size_t to = cell.find_last_not_of(' ');
            cells.push_back(from == std::string::npos ? "" : cell.substr(from, to - from + 1));
        }
        rows.push_back(std::move(cells));
    }
    ASSERT_EQ(rows.size(), table.rows() + 1);
    const std::vector<std::string>& names = rows.front();
    for (const char* name : {"phase", "policy", "mutation_pct", "repeat", "duration_ns",
                             "abort_rate", "cause_conflict"}) {
        EXPECT_THAT(names, testing::Contains(name));
    }
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            EXPECT_EQ(rows[row + 1][i], table.text(row, names[i])) << names[i];
        }
    }
}

TEST_F(Exports, MarkdownOfAFullSweepFitsAComment) {
    EXPECT_LT(markdown_report(sample.rows, sample.columns, context).size(), 65'536u);
}

TEST(MarkdownTables, KeepTheirCellsWhole) {
    TextTable table(std::vector<TextTable::Heading>{{"a|b", "%"}});
    table.add({"<0.1 | x"});
    EXPECT_EQ(table.markdown(), "| a\\|b (%) |\n|---:|\n| &lt;0.1 \\| x |\n");
}

TEST(ShellCommand, QuotesOnlyWhatAShellWouldTouch) {
    EXPECT_EQ(shell_command({"abortscope", "--mutation", "2,5", "--csv", "my file.csv"}),
              "abortscope --mutation 2,5 --csv 'my file.csv'");
    EXPECT_EQ(shell_command({"it's", ""}), R"('it'\''s' '')");
}

}  // namespace
}  // namespace abortscope
