// SPDX-License-Identifier: Apache-2.0
#include "machines/model/background.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace abortscope::model {
namespace {

/// A thread's accesses, one after another, as an engine does them.
struct Accesses {
    Background& background;
    std::uint8_t thread = 0;
    std::uint64_t done = 0;
    std::map<std::uint64_t, std::uint32_t> came{};  ///< by access: the line's number

    void run(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            ++done;
            if (--background.clock(thread).left != 0) continue;
            if (Background::Line* line = background.due(thread)) {
                came[done] = line->number;
                background.came(*line, 7);
            }
        }
    }
};

Background::Line& line_of(Background& background, std::uint32_t sets, std::uint32_t number) {
    for (std::uint32_t set = 0; set < sets; ++set) {
        for (Background::Line& line : background.in(set)) {
            if (line.thread == 0 && line.number == number) return line;
        }
    }
    throw std::logic_error("no such line");
}

TEST(Background, LinesComeInTheirTurnsAndStay) {
    Background background(3, 5, 2, 64);
    Accesses accesses{background};
    accesses.run(1000);
    // Turn t is line t modulo 3's, at access 5 t.
    const std::map<std::uint64_t, std::uint32_t> expected{{5, 1}, {10, 2}, {15, 0}};
    EXPECT_EQ(accesses.came, expected);
}

TEST(Background, ALineThatL1HasLostComesBackAtItsNextTurn) {
    Background background(3, 5, 1, 64);
    Accesses accesses{background};
    accesses.run(1000);  // the last turns: 200 (line 2), 199 (line 1), 198 (line 0)
    accesses.came.clear();
    for (std::uint32_t number : {0u, 2u}) {
        const Background::Line& line = line_of(background, 64, number);
        background.lost(line.id, line.set);
    }
    accesses.run(100);
    const std::map<std::uint64_t, std::uint32_t> expected{{1005, 0}, {1015, 2}};
    EXPECT_EQ(accesses.came, expected);
}

TEST(Background, TurnsSinceTheLastQuestionCountOnce) {
    Background background(2, 10, 1, 64);
    Accesses accesses{background};
    accesses.run(25);  // turn 1: line 1, turn 2: line 0
    Background::Line& one = line_of(background, 64, 1);
    Background::Line& zero = line_of(background, 64, 0);
    EXPECT_FALSE(background.used(one));
    EXPECT_FALSE(background.used(zero));
    accesses.run(5);  // turn 3
    EXPECT_TRUE(background.used(one));
    EXPECT_FALSE(background.used(one));
    EXPECT_FALSE(background.used(zero));
    accesses.run(1000);
    EXPECT_TRUE(background.used(one));
    EXPECT_TRUE(background.used(zero));
    EXPECT_FALSE(background.used(zero));
}

TEST(Background, AThreadsTurnsComeWithItsOwnAccesses) {
    Background background(1, 4, 2, 64);
    Accesses first{background, 0};
    Accesses second{background, 1};
    first.run(3);
    second.run(4);
    EXPECT_TRUE(first.came.empty());
    EXPECT_EQ(second.came.size(), 1u);
}

TEST(Background, AThreadMayHaveMoreLinesThanL1) {
    Background background(1024, 1, 1, 64);
    Accesses accesses{background};
    accesses.run(5000);
    ASSERT_EQ(accesses.came.size(), 1024u);
    for (const auto& [access, number] : accesses.came) EXPECT_EQ(number, access % 1024);
}

TEST(Background, NoLinesInterruptNobody) {
    Background background(0, 4, 1, 64);
    Accesses accesses{background};
    accesses.run(1000);
    EXPECT_TRUE(accesses.came.empty());
    for (std::uint32_t set = 0; set < 64; ++set) EXPECT_TRUE(background.in(set).empty());
}

}  // namespace
}  // namespace abortscope::model
