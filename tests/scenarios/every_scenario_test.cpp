// SPDX-License-Identifier: Apache-2.0
//
// What holds for every scenario, on every lock that it lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "primitives/lock_registry.hpp"
#include "primitives/retry_policy.hpp"
#include "tests/scenarios/small_trials.hpp"

namespace abortscope {
namespace {

class EveryScenarioOnTheModel : public OnTheModel {};

TEST(EveryScenario, DescribesItselfWholly) {
    std::set<std::string_view> names;
    for (const ScenarioEntry& entry : scenarios()) {
        const ScenarioInfo& info = *entry.info;
        SCOPED_TRACE(info.name);
        EXPECT_TRUE(names.insert(info.name).second);
        EXPECT_EQ(find_scenario(info.name), &entry);
        EXPECT_FALSE(info.summary.empty());
        EXPECT_FALSE(info.source.empty());
        EXPECT_FALSE(info.phases.empty());
        EXPECT_GT(info.default_threads, 0u);
        EXPECT_EQ(info.locks.empty(), info.default_policies.empty());
        for (const std::string_view lock : info.locks) EXPECT_NE(find_lock_kind(lock), nullptr);
        for (const std::string_view policy : info.default_policies) {
            EXPECT_NE(find_policy(policy), nullptr);
        }
        for (const ParameterSpec& parameter : info.parameters) {
            SCOPED_TRACE(parameter.name);
            EXPECT_FALSE(parameter.help.empty());
            EXPECT_LE(parameter.minimum, parameter.default_value);
            EXPECT_LE(parameter.default_value, parameter.maximum);
            if (!parameter.words.empty()) {
                EXPECT_EQ(parameter.minimum, 0);
                EXPECT_EQ(parameter.maximum + 1, static_cast<std::int64_t>(parameter.words.size()));
            }
        }
    }
    EXPECT_EQ(find_scenario("ovs"), nullptr);
}

TEST(EveryScenario, HasRemediesThatItsParametersKnow) {
    for (const ScenarioEntry& entry : scenarios()) {
        const ScenarioInfo& info = *entry.info;
        const auto parameter_named = [&](std::string_view name) {
            return std::find_if(info.parameters.begin(), info.parameters.end(),
                                [&](const ParameterSpec& each) { return each.name == name; });
        };
        for (const Remedy& remedy : info.remedies) {
            SCOPED_TRACE(std::string(info.name) + ": " + std::string(remedy.words));
            EXPECT_FALSE(remedy.words.empty());
            EXPECT_EQ(remedy.words.find("{}") == remedy.words.npos, remedy.factors.empty());
            EXPECT_TRUE(std::is_sorted(remedy.factors.begin(), remedy.factors.end()));
            if (!remedy.where.parameter.empty()) {
                const auto where = parameter_named(remedy.where.parameter);
                ASSERT_NE(where, info.parameters.end());
                EXPECT_LE(remedy.where.value, where->maximum);
            }
            bool changes = false;
            for (const ParameterChange& change : remedy.changes) {
                if (change.parameter.empty()) continue;
                changes = true;
                const auto changed = parameter_named(change.parameter);
                ASSERT_NE(changed, info.parameters.end());
                if (change.kind == ParameterChange::Kind::set) {
                    EXPECT_GE(change.value, changed->minimum);
                    EXPECT_LE(change.value, changed->maximum);
                } else {
                    EXPECT_FALSE(remedy.factors.empty());
                }
            }
            EXPECT_TRUE(changes);
        }
    }
}

TEST(EveryScenario, KeepsItsChecksOnNativeThreads) {
    for (const TrialSpec& spec : small_trials_on_every_lock(2)) {
        EXPECT_NO_THROW(run_native(spec)) << spec.scenario->name << ' ' << spec.lock;
    }
}

TEST_F(EveryScenarioOnTheModel, KeepsItsChecksUnderEveryPolicy) {
    for (TrialSpec spec : small_trials_on_every_lock(4)) {
        for (const RetryPolicy& policy : retry_policies) {
            spec.policy = policy.name;
            SCOPED_TRACE(std::string(spec.scenario->name) + ' ' + spec.lock + ' ' + spec.policy);
            TrialOutcome outcome;
            ASSERT_NO_THROW(outcome = run_model(spec));
            EXPECT_EQ(outcome.counts.tx_start, outcome.counts.tx_commit + outcome.counts.tx_abort);
            EXPECT_EQ(outcome.counts.tx_start, outcome.sum(&AbortLog::attempts));
            EXPECT_EQ(outcome.counts.tx_abort, outcome.aborts());
            EXPECT_EQ(outcome.sum(&AbortLog::acquisitions),
                      outcome.sum(&AbortLog::elided) + outcome.sum(&AbortLog::fallbacks));
        }
    }
}

TEST_F(EveryScenarioOnTheModel, GivesTheSameForTheSameSeedAndOtherwiseNot) {
    std::size_t differ = 0;
    for (const ScenarioEntry& entry : scenarios()) {
        SCOPED_TRACE(entry.info->name);
        TrialSpec spec = small_trial(*entry.info, entry.info->default_threads);
        if (!entry.info->default_policies.empty())
            spec.policy = entry.info->default_policies.back();
        const auto first = run_model(spec);
        const auto again = run_model(spec);
        spec.seed = 2;
        const auto other = run_model(spec);
        ASSERT_EQ(first.phases.size(), again.phases.size());
        bool same_as_other = true;
        for (std::size_t i = 0; i < first.phases.size(); ++i) {
            EXPECT_EQ(first.phases[i].duration_ns, again.phases[i].duration_ns);
            EXPECT_EQ(first.phases[i].operations, again.phases[i].operations);
            same_as_other &= first.phases[i].duration_ns == other.phases[i].duration_ns;
        }
        EXPECT_EQ(first.aborts(), again.aborts());
        if (!same_as_other) ++differ;
    }
    EXPECT_EQ(differ, scenarios().size());
}

}  // namespace
}  // namespace abortscope
