// SPDX-License-Identifier: Apache-2.0
#include "reports/csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace abortscope {
namespace {

TEST(CsvField, IsQuotedOnlyWhereItMustBe) {
    EXPECT_EQ(csv_field("plain text; 0x01:12"), "plain text; 0x01:12");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
    EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(Csv, EveryLineHasAFieldPerColumn) {
    const std::vector<Column> columns = columns_for({});
    Measurement row;
    row.counters[0] = Reading::missing("no PMU in this VM");
    const std::string header = csv_header(columns);
    const std::string line = csv_line(columns, row);
    EXPECT_EQ(std::count(header.begin(), header.end(), ','),
              std::count(line.begin(), line.end(), ','));
    EXPECT_TRUE(line.ends_with(",no PMU in this VM\n"));
}

TEST(Csv, AbsentNumbersAreEmptyAndZerosAreNot) {
    const std::vector<Column> columns = columns_for({});
    const std::span<const Column> starts(&columns[index_of(columns, "tx_start")], 3);
    Measurement row;
    row.counters[index_of(Counter::tx_start)] = Reading::of(0, Provenance::hw);
    EXPECT_EQ(csv_header(starts), "tx_start,tx_commit,tx_abort\n");
    EXPECT_EQ(csv_line(starts, row), "0,,\n");
}

}  // namespace
}  // namespace abortscope
