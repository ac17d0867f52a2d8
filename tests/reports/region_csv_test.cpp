// SPDX-License-Identifier: Apache-2.0
//
// The umbrella header, and the CSV that a program with regions writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "abortscope.hpp"
#include "profiler/columns.hpp"
#include "profiler/errors.hpp"
#include "reports/csv.hpp"
#include "reports/csv_table.hpp"

namespace abortscope {
namespace {

TEST(RegionCsv, HasTheColumnsOfARunAndARowForEachSite) {
    reset_regions();
    elided_mutex mutex;
    for (const char* site : {"insert", "lookup", "insert"}) {
        const Region region("table, shared", site);
        const std::lock_guard guard(mutex);
    }
    const std::string text = region_csv();
    EXPECT_EQ(text.substr(0, text.find('\n') + 1), csv_header(fixed_columns()));
    const CsvTable table = CsvTable::parse(text, "regions");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.text(0, "scenario"), "region");
    EXPECT_EQ(table.text(0, "lock"), "table, shared");
    EXPECT_EQ(table.text(0, "phase"), "insert");
    EXPECT_EQ(table.number(0, "operations"), 2);
    EXPECT_EQ(table.number(0, "acquisitions"), 2);
    EXPECT_EQ(table.text(0, "tx_start"), "") << "absent is empty";
    EXPECT_EQ(table.text(0, "cause_source"), "software");

    const auto path = std::filesystem::temp_directory_path() / "abortscope-region-csv-test.csv";
    write_region_csv(path);
    EXPECT_EQ(CsvTable::read(path).rows(), 2u);
    std::filesystem::remove(path);
    EXPECT_THROW(write_region_csv("/nonexistent/folder/file.csv"), IoError);
    reset_regions();
}

}  // namespace
}  // namespace abortscope
