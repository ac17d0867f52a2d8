// SPDX-License-Identifier: Apache-2.0
#include "reports/csv_table.hpp"

#include <gmock/gmock.h>

#include "profiler/errors.hpp"
#include "reports/csv.hpp"
#include "tests/reports/sample_rows.hpp"

namespace abortscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

const std::string header = "schema_version,scenario,policy,n,duration_ns,abort_rate\n";

CsvTable parse(const std::string& text) {
    return CsvTable::parse(text, "rows.csv");
}

template <class Matcher>
void expect_refusal(const std::string& text, Matcher message) {
    EXPECT_THAT([&] { parse(text); }, ThrowsMessage<IoError>(AllOf(HasSubstr("rows.csv"), message)))
        << text;
}

TEST(CsvTable, ReadsBackWhatWasWritten) {
    const SampleRows sample({"none", "ovs2016"}, 2);
    std::string text = csv_header(sample.columns);
    for (const Measurement& row : sample.rows) text += csv_line(sample.columns, row);
    const CsvTable table = parse(text);
    ASSERT_EQ(table.rows(), sample.rows.size());
    EXPECT_THAT(table.parameters(), ElementsAre("mutation_pct", "n"));
    EXPECT_THAT(table.notes(), IsEmpty());
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (const Column& column : sample.columns) {
            EXPECT_EQ(table.text(row, column.name), to_text(column.of(sample.rows[row])));
        }
    }
}

TEST(CsvTable, AnEmptyCellIsNoNumber) {
    const CsvTable table = parse(header + "1,map,none,5,100,\n");
    EXPECT_EQ(table.number(0, "duration_ns"), 100);
    EXPECT_EQ(table.number(0, "abort_rate"), std::nullopt);
    EXPECT_EQ(table.number(0, "no_such_column"), std::nullopt);
    EXPECT_FALSE(table.has("no_such_column"));
}

TEST(CsvTable, TakesCrlfAByteOrderMarkQuotesAndBlankLines) {
    const CsvTable table =
        parse("\xef\xbb\xbf" + std::string("schema_version,scenario,policy,n,duration_ns\r\n"
                                           "1,\"a,\"\"b\"\"\",none,5,100\r\n\r\n"));
    ASSERT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.text(0, "scenario"), "a,\"b\"");
    EXPECT_EQ(table.number(0, "duration_ns"), 100);
}

TEST(CsvTable, TakesConcatenatedFilesWithTheirHeaders) {
    const CsvTable table = parse(header + "1,map,none,5,100,\n" +
                                 "schema_version,scenario,policy,bytes,duration_ns\n"
                                 "1,conflict,none,disjoint,200\n" +
                                 header + "1,map,none,6,300,\n");
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_THAT(table.parameters(), ElementsAre("n", "bytes"));
    EXPECT_EQ(table.text(1, "bytes"), "disjoint");
    EXPECT_EQ(table.text(1, "n"), "");
    EXPECT_EQ(table.text(2, "n"), "6");
    EXPECT_EQ(table.text(0, "bytes"), "");
}

TEST(CsvTable, SaysInOneLineWhatIsWrong) {
    expect_refusal("", HasSubstr("is empty"));
    expect_refusal(header, HasSubstr("no rows"));
    expect_refusal("hello world\n", HasSubstr("line 1: no header"));
    expect_refusal("a,b\n1,2\n", HasSubstr("line 1: no header"));
    expect_refusal("schema_version,scen", HasSubstr("cut off"));
    expect_refusal(header + "1,map,none,5,100,\n1,map,no", HasSubstr("line 3: 3 fields"));
    expect_refusal(header + "1,map,none,5,100,0.1,7\n", HasSubstr("line 2: 7 fields"));
    expect_refusal(header + "1,\"map,none\n", HasSubstr("quote is not closed"));
    expect_refusal(header + "1,\"map\"x,none,5,100,\n", HasSubstr("after a closing quote"));
    expect_refusal(header + "1,m\xff,none,5,100,\n", HasSubstr("line 2: this is not UTF-8"));
    expect_refusal(header + "2,map,none,5,100,\n", HasSubstr("schema 2 is newer"));
    expect_refusal(header + "x,map,none,5,100,\n", HasSubstr("schema version is 'x', not a"));
    expect_refusal(header + "0,map,none,5,100,\n", HasSubstr("schema version is '0', not a"));
    expect_refusal("schema_version,scenario,n,n,duration_ns\n1,a,1,1,1\n", HasSubstr("twice"));
    EXPECT_THAT([] { parse(header + "1,map,none,5,1e5x,\n").number(0, "duration_ns"); },
                ThrowsMessage<IoError>(HasSubstr("line 2: '1e5x' in the column duration_ns")));
    EXPECT_THAT([] { parse(header + "1,map,none,5,nan,\n").number(0, "duration_ns"); },
                ThrowsMessage<IoError>(HasSubstr("no number")));
}

TEST(CsvTable, MentionsALastLineThatMayBeCutOff) {
    EXPECT_THAT(parse(header + "1,map,none,5,100,0.2").notes(),
                ElementsAre(HasSubstr("may be cut off")));
}

TEST(CsvTable, SaysThatAFileCannotBeRead) {
    EXPECT_THAT([] { CsvTable::read("/no/such/file.csv"); },
                ThrowsMessage<IoError>("cannot read /no/such/file.csv: No such file or directory"));
    EXPECT_THAT([] { CsvTable::read("/"); }, ThrowsMessage<IoError>(HasSubstr("Is a directory")));
}

}  // namespace
}  // namespace abortscope
