// SPDX-License-Identifier: Apache-2.0
#include "studies/compare/change.hpp"

#include <gmock/gmock.h>

#include "profiler/errors.hpp"
#include "studies/compare/fail_condition.hpp"

namespace abortscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

const Metric throughput = metric_named("operations_per_s");
const Metric rate = metric_named("abort_rate");

Verdict verdict(const Values& before, const Values& after, const Metric& metric) {
    return change_between(before, after, metric)->verdict;
}

TEST(Change, ATenPercentSlowdownIsWorse) {
    const Values before{100, 101, 99, 100.5, 99.5};
    const Values after{90, 91, 89, 90.5, 89.5};
    const std::optional<Change> change = change_between(before, after, throughput);
    ASSERT_TRUE(change.has_value());
    EXPECT_EQ(change->verdict, Verdict::worse);
    EXPECT_DOUBLE_EQ(*change->ratio, 0.9);
    EXPECT_DOUBLE_EQ(change->delta, -10);
    EXPECT_LT(change->ratio_interval->high, 0.95);
    EXPECT_GT(change->ratio_interval->low, 0.85);
    EXPECT_LT(change->p, 0.01);
}

TEST(Change, WhichWayIsBetterDependsOnTheMetric) {
    const Values low{1, 2, 3, 4, 5};
    const Values high{11, 12, 13, 14, 15};
    EXPECT_EQ(verdict(low, high, throughput), Verdict::better);
    EXPECT_EQ(verdict(low, high, rate), Verdict::worse);
    EXPECT_EQ(verdict(high, low, rate), Verdict::better);
    EXPECT_EQ(verdict(low, high, metric_named("cycles")), Verdict::changed);
}

TEST(Change, OverlappingSamplesAreNotSignificant) {
    EXPECT_EQ(verdict({100, 103, 98, 101, 99}, {101, 99, 102, 97, 104}, throughput),
              Verdict::not_significant);
}

TEST(Change, WhatIsTooSmallToMatterIsNotSignificant) {
    // Completely apart, but by half a percent.
    EXPECT_EQ(verdict({1000, 1000.1, 1000.2, 1000.3, 1000.4},
                      {1005, 1005.1, 1005.2, 1005.3, 1005.4}, throughput),
              Verdict::not_significant);
    // By half a tenth of a percentage point.
    EXPECT_EQ(verdict({0.2, 0.20001, 0.20002}, {0.2005, 0.20051, 0.20052}, rate),
              Verdict::not_significant);
}

TEST(Change, ThreeRepeatsCanTellIfTheyDoNotOverlap) {
    EXPECT_EQ(verdict({100, 101, 102}, {90, 91, 92}, throughput), Verdict::worse);
    EXPECT_EQ(verdict({100, 101, 102}, {90, 91, 101.5}, throughput), Verdict::not_significant);
}

TEST(Change, TwoRepeatsAreTooFewToTell) {
    EXPECT_EQ(verdict({100, 101}, {50, 51, 52, 53}, throughput), Verdict::too_few);
    EXPECT_EQ(verdict({100}, {50}, throughput), Verdict::too_few);
}

TEST(Change, OfTheSameNumbersIsNone) {
    EXPECT_EQ(verdict({7, 7, 7}, {7, 7, 7}, throughput), Verdict::same);
    EXPECT_EQ(verdict({0}, {0}, rate), Verdict::same);
    EXPECT_FALSE(change_between(Values{}, Values{1}, rate).has_value());
}

TEST(Change, FromNothingHasNoRatio) {
    const std::optional<Change> change =
        change_between(Values{0, 0, 0, 0}, Values{5, 6, 7, 8}, metric_named("cause_capacity"));
    EXPECT_FALSE(change->ratio.has_value());
    EXPECT_FALSE(change->ratio_interval.has_value());
    EXPECT_EQ(change->verdict, Verdict::worse);
}

TEST(Metric, AnyNumberThatWasMeasuredIsOne) {
    EXPECT_TRUE(metric_named("fallback_after_fallback_rate").is_rate);
    EXPECT_EQ(metric_named("duration_ns").better, Better::lower);
    EXPECT_EQ(metric_named("duration_ns").unit, "ns");
    EXPECT_THAT([] { metric_named("abortrate"); },
                ThrowsMessage<UsageError>(HasSubstr("did you mean 'abort_rate'?")));
    EXPECT_THROW(metric_named("seed"), UsageError);
    EXPECT_THROW(metric_named("time_source"), UsageError);
}

bool fires(const char* condition, const Values& before, const Values& after, bool strict = false) {
    const FailCondition parsed = FailCondition::parse(condition);
    return parsed.fires(*change_between(before, after, parsed.metric), strict);
}

TEST(FailCondition, FiresBeyondItsThreshold) {
    const Values before{0.10, 0.101, 0.102, 0.103, 0.104};
    const Values after{0.13, 0.131, 0.132, 0.133, 0.134};
    EXPECT_TRUE(fires("abort_rate > +2pp", before, after));
    EXPECT_TRUE(fires("abort_rate>2pp", before, after));
    EXPECT_TRUE(fires("abort_rate > 29%", before, after));
    EXPECT_TRUE(fires("abort_rate > 0.029", before, after));
    EXPECT_FALSE(fires("abort_rate > +4pp", before, after));
    EXPECT_FALSE(fires("abort_rate < -2pp", before, after));
    EXPECT_TRUE(fires("abort_rate < -2pp", after, before));
}

TEST(FailCondition, AsksForSignificanceWhereRepeatsAllowIt) {
    const Values before{100, 120, 80, 110, 90};
    const Values after{85, 118, 79, 105, 92};
    EXPECT_FALSE(fires("operations_per_s < -5%", before, after));
    EXPECT_TRUE(fires("operations_per_s < -5%", before, after, true));
    EXPECT_TRUE(fires("operations_per_s < -5%", {100, 101}, {90, 91}));
}

TEST(FailCondition, FromNothingAnyShareIsExceeded) {
    EXPECT_TRUE(fires("cause_capacity > 50%", {0}, {1}));
    EXPECT_FALSE(fires("cause_capacity > 50%", {0}, {0}));
}

TEST(FailCondition, RefusesWhatItCannotRead) {
    for (const char* text :
         {"abort_rate", "abort_rate >", "abort_rate > x", "abort_rate > 2 apples", "abort_rate = 2",
          "abort_rate > nan", "abort_rate > 1e999"}) {
        EXPECT_THROW(FailCondition::parse(text), UsageError) << text;
    }
    EXPECT_THAT([] { FailCondition::parse("operations_per_s < -5pp"); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("no rate"), HasSubstr("'%'"))));
    EXPECT_THAT([] { FailCondition::parse("abortrate > 2pp"); },
                ThrowsMessage<UsageError>(HasSubstr("did you mean 'abort_rate'?")));
}

}  // namespace
}  // namespace abortscope
