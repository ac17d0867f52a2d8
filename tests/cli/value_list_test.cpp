// SPDX-License-Identifier: Apache-2.0
#include "cli/value_list.hpp"

#include <gmock/gmock.h>

#include <array>

#include "profiler/errors.hpp"

namespace abortscope::cli {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

TEST(ValueList, SplitsAtCommas) {
    EXPECT_THAT(split_list("--threads", "1,2,4"), ElementsAre("1", "2", "4"));
    EXPECT_THAT(split_list("--threads", "8"), ElementsAre("8"));
}

TEST(ValueList, RefusesEmptyAndRepeatedElements) {
    EXPECT_THAT([] { split_list("--threads", "1,,2"); },
                ThrowsMessage<UsageError>("--threads '1,,2' has an empty element"));
    EXPECT_THAT([] { split_list("--threads", "1,"); },
                ThrowsMessage<UsageError>("--threads '1,' has an empty element"));
    EXPECT_THAT([] { split_list("--threads", ""); },
                ThrowsMessage<UsageError>("--threads has no value"));
    EXPECT_THAT([] { split_list("--threads", "2,4,2"); },
                ThrowsMessage<UsageError>("--threads names '2' twice"));
}

TEST(ValueList, SaysTheRangeInWords) {
    EXPECT_THAT(parse_integers("--mutation", "0,100", {0, 100}), ElementsAre(0, 100));
    EXPECT_THAT(
        [] {
            parse_integers("--mutation", "2,200", {0, 100});
        },
        ThrowsMessage<UsageError>("--mutation takes a whole number from 0 to 100, not '200'"));
    EXPECT_THAT(
        [] {
            parse_integer("--n", "-5", {1, 10});
        },
        ThrowsMessage<UsageError>("--n takes a whole number from 1 to 10, not '-5'"));
}

TEST(ValueList, RefusesWhatIsNoWholeNumber) {
    for (const char* text : {"", "x", "1x", " 1", "1.5", "+1", "--1", "0x10", "1e3"}) {
        EXPECT_THROW(parse_integer("--n", text, {0, 10}), UsageError) << text;
    }
}

TEST(ValueList, RefusesNumbersOfAnyLengthInOneShortLine) {
    try {
        parse_integer("--n", std::string(300, '9'), {1, 10});
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_LT(std::string(error.what()).size(), 120u);
    }
}

TEST(ValueList, SuggestsTheNearestName) {
    constexpr std::array<std::string_view, 2> names{"none", "ovs2016"};
    EXPECT_THAT(parse_names("--policy", "policy", "ovs2016,none", names),
                ElementsAre("ovs2016", "none"));
    EXPECT_THAT([&] { parse_names("--policy", "policy", "ovs2061", names); },
                ThrowsMessage<UsageError>("unknown policy 'ovs2061'; did you mean 'ovs2016'?"));
}

TEST(ValueList, TurnsAParametersWordsIntoTheirIndices) {
    static constexpr std::array<std::string_view, 2> words{"shared", "disjoint"};
    const ParameterSpec parameter{.name = "bytes", .option = "", .help = "", .words = words};
    EXPECT_THAT(parse_values("bytes", parameter, "disjoint,shared"), ElementsAre(1, 0));
    EXPECT_THAT([&] { parse_values("bytes", parameter, "both"); },
                ThrowsMessage<UsageError>("bytes takes shared, disjoint, not 'both'"));
}

TEST(ValueList, TakesSeedsOf64Bits) {
    EXPECT_EQ(parse_seed("--seed", "18446744073709551615"), ~std::uint64_t{0});
    EXPECT_THROW(parse_seed("--seed", "18446744073709551616"), UsageError);
    EXPECT_THROW(parse_seed("--seed", "-1"), UsageError);
}

TEST(ValueList, TakesAShareOfASweep) {
    EXPECT_EQ(parse_shard("--shard", "3/16").number, 3u);
    EXPECT_EQ(parse_shard("--shard", "3/16").count, 16u);
    for (const char* text : {"", "3", "0/4", "5/4", "a/b", "1/0", "1/2/3", "-1/2"}) {
        EXPECT_THROW(parse_shard("--shard", text), UsageError) << text;
    }
}

}  // namespace
}  // namespace abortscope::cli
