// SPDX-License-Identifier: Apache-2.0
#include "studies/validate.hpp"

#include <gtest/gtest.h>

namespace abortscope {
namespace {

TEST(Validate, EveryFigureWithASourceIsMetWithinTheErrorThatIsPrinted) {
    const std::vector<Validation> rows = validate();
    EXPECT_GT(rows.size(), 20u);
    for (const Validation& row : rows) {
        if (!row.sourced) continue;
        EXPECT_TRUE(row.holds()) << row.machine << ", " << row.experiment << ": published "
                                 << row.published << ", model " << row.model;
        EXPECT_FALSE(row.source.empty()) << row.experiment;
    }
}

TEST(Validate, AFigureFromMemoryIsShownAndJudgesNothing) {
    Validation row;
    row.published = 7;
    row.model = 9;
    row.allowed = 1;
    EXPECT_FALSE(row.holds());
    const std::string text = validation_text({row}, 200);
    EXPECT_NE(text.find("from memory"), std::string::npos);
    EXPECT_EQ(text.find("MISSED"), std::string::npos);
}

}  // namespace
}  // namespace abortscope
