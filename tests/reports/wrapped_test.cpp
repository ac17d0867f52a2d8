// SPDX-License-Identifier: Apache-2.0
#include "reports/wrapped.hpp"

#include <gtest/gtest.h>

#include "reports/text_table.hpp"

namespace abortscope {
namespace {

TEST(Folded, BreaksLongLinesUnderTheirLastField) {
    EXPECT_EQ(folded("short\n\nname    one two three four five six seven\n", 34),
              "short\n\nname    one two three four five\n        six seven\n");
}

TEST(Folded, ALineWithoutFieldsGoesOnALittleFurtherIn) {
    EXPECT_EQ(folded("  one two three four five six seven eight", 30),
              "  one two three four five six\n    seven eight");
}

TEST(Folded, AnArrowIsNotHungUnder) {
    EXPECT_EQ(folded("a   -> one two three four five six seven", 36),
              "a   -> one two three four five six\n       seven");
}

TEST(Folded, KeepsWordsWholeAndCountsNoColours) {
    const std::string word(50, 'x');
    EXPECT_EQ(folded(word, 30), word);
    EXPECT_EQ(folded(word + " y", 30), word + "\n  y");
    const std::string painted = "\x1b[1m" + std::string(30, 'x') + "\x1b[0m";
    EXPECT_EQ(folded(painted, 30), painted);
}

TEST(TextTable, FoldsItsWidestColumnOfWords) {
    using enum TextTable::Align;
    TextTable table({{"what", "", left}, {"n", ""}});
    table.add({"one two three four five", "1"});
    table.add({"six", "2"});
    table.fold(20);
    EXPECT_EQ(table.text(), "what           n\none two three  1\nfour five\nsix            2\n");
}

}  // namespace
}  // namespace abortscope
