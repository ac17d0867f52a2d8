// SPDX-License-Identifier: Apache-2.0
#include "profiler/trial_runner.hpp"

#include <gmock/gmock.h>

#include <array>

#include "machines/model/model_machine.hpp"
#include "machines/native/affinity.hpp"
#include "machines/native/native_machine.hpp"
#include "primitives/owned.hpp"
#include "profiler/errors.hpp"

namespace abortscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::array<std::string_view, 2> faults{"no", "yes"};
constexpr std::array<ParameterSpec, 3> parameters{{
    {.name = "n", .option = "n", .help = "additions", .default_value = 10, .maximum = 1000},
    {.name = "skip_warm_up", .option = "", .help = "", .maximum = 1},
    {.name = "fault", .option = "", .help = "", .maximum = 1, .words = faults},
}};
constexpr std::array<PhaseSpec, 2> phases{{{"warm_up", false}, {"count", true}}};
constexpr std::array<std::string_view, 1> locks{"none"};
const ScenarioInfo info{.name = "counting",
                        .parameters = parameters,
                        .phases = phases,
                        .locks = locks,
                        .default_policies = locks};

/// Workers add to one counter, in a transaction where they can.
template <Machine M>
class Counting final : public Scenario {
  public:
    explicit Counting(const TrialSpec& spec)
        : n_(static_cast<std::uint64_t>(spec.value("n"))),
          skips_warm_up_(spec.value("skip_warm_up") != 0),
          faulty_(spec.value("fault") != 0),
          threads_(spec.threads),
          counter_(make_owned<M, typename M::template Atomic<std::uint64_t>>("counter")) {}

    bool has_phase(std::size_t phase) const override { return phase != 0 || !skips_warm_up_; }

    std::uint64_t run(std::size_t phase, unsigned worker) override {
        if (phase == 0) return 1;
        AbortLog& log = M::log();
        for (std::uint64_t i = 0; i < n_; ++i) {
            if (M::rtm_available()) {
                ++log.attempts;
                const rtm::Status status = M::begin();
                if (status.is_started()) {
                    counter_->fetch_add(1, std::memory_order_relaxed);
                    M::commit();
                    log.record_commit();
                    continue;
                }
                log.record_abort(status);
            }
            counter_->fetch_add(1, std::memory_order_relaxed);
        }
        return n_ + worker;
    }

    void check(std::size_t phase) override {
        if (phase == 1 && (faulty_ || *counter_ != n_ * threads_)) {
            throw CheckFailed("the counter is wrong");
        }
    }

  private:
    std::uint64_t n_;
    bool skips_warm_up_;
    bool faulty_;
    unsigned threads_;
    Owned<M, typename M::template Atomic<std::uint64_t>> counter_;
};

template <Machine M>
std::unique_ptr<Scenario> make(const TrialSpec& spec) {
    return std::make_unique<Counting<M>>(spec);
}

const ScenarioEntry entry{&info, make<native::NativeMachine>, make<model::ModelMachine>};

TrialSpec spec_for(std::string machine) {
    TrialSpec spec;
    spec.scenario = &info;
    spec.machine = std::move(machine);
    spec.lock = "none";
    spec.threads = 3;
    spec.values = {10, 0, 0};
    spec.seed = 7;
    spec.repeat = 2;
    return spec;
}

class OnEachMachine : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(TrialRunner, OnEachMachine, testing::Values("native", "model:haswell"));

TEST_P(OnEachMachine, GivesARowAPhaseWithItsIdentity) {
    const TrialResult result = run_trial(entry, spec_for(GetParam()));
    ASSERT_EQ(result.rows.size(), 2u);
    EXPECT_EQ(result.rows[0].phase, "warm_up");
    EXPECT_EQ(result.rows[1].phase, "count");
    for (const Measurement& row : result.rows) {
        EXPECT_EQ(row.scenario, "counting");
        EXPECT_EQ(row.machine, GetParam());
        EXPECT_EQ(row.threads, 3u);
        EXPECT_GT(row.cpus, 0u);
        EXPECT_EQ(row.seed, 7u);
        EXPECT_EQ(row.repeat, 2u);
        EXPECT_NE(row.time_source, Provenance::absent);
        ASSERT_EQ(row.parameters.size(), 3u);
        EXPECT_EQ(row.parameters[0].number, 10);
        EXPECT_EQ(row.parameters[2].word, "no");
    }
}

TEST_P(OnEachMachine, CountsOperationsOfTheWorkersThatRanThePhase) {
    const TrialResult result = run_trial(entry, spec_for(GetParam()));
    EXPECT_THAT(result.rows[0].worker_operations, ElementsAre(1));
    EXPECT_THAT(result.rows[1].worker_operations, ElementsAre(10, 11, 12));
}

TEST_P(OnEachMachine, LeavesOutAPhaseThatTheTrialHasNot) {
    TrialSpec spec = spec_for(GetParam());
    spec.values[1] = 1;
    const TrialResult result = run_trial(entry, spec);
    ASSERT_EQ(result.rows.size(), 1u);
    EXPECT_EQ(result.rows[0].phase, "count");
}

TEST_P(OnEachMachine, AFailedCheckNamesThePhaseAndTheCommandThatDoesItAgain) {
    TrialSpec spec = spec_for(GetParam());
    spec.values[2] = 1;
    EXPECT_THAT([&] { run_trial(entry, spec); },
                ThrowsMessage<CheckFailed>(AllOf(HasSubstr("counting: count: the counter is wrong"),
                                                 HasSubstr("abortscope run counting"),
                                                 HasSubstr("--seed 7"))));
}

TEST_P(OnEachMachine, EveryRowTellsItsInvoluntarySwitches) {
    for (const Measurement& row : run_trial(entry, spec_for(GetParam())).rows) {
        ASSERT_TRUE(row.involuntary_switches);
        const auto& all = row.counters[index_of(Counter::context_switches)].value;
        if (all && row.counter_source() == Provenance::model) {
            EXPECT_LE(*row.involuntary_switches, *all);
        }
    }
}

TEST(TrialRunner, TheModelsRowsAddUp) {
    const TrialResult result = run_trial(entry, spec_for("model:haswell"));
    const Measurement& row = result.rows[1];
    const auto value = [&](Counter counter) {
        return row.counters[index_of(counter)].value.value();
    };
    EXPECT_GT(value(Counter::tx_start), 0u);
    EXPECT_EQ(value(Counter::tx_start), value(Counter::tx_commit) + value(Counter::tx_abort));
    EXPECT_EQ(value(Counter::tx_start), row.log->attempts);
    EXPECT_EQ(value(Counter::tx_abort), row.log->aborts());
    EXPECT_EQ(row.counter_source(), Provenance::model);
    EXPECT_EQ(row.absent_reason(), "");
    EXPECT_GT(result.simulated_accesses, 0u);
    // Each phase counts its own: the warm-up has no transaction.
    EXPECT_EQ(result.rows[0].counters[index_of(Counter::tx_start)].value, 0u);
    EXPECT_EQ(result.rows[0].log->attempts, 0u);
}

TEST(TrialRunner, TheSameSeedGivesTheSameModelRows) {
    const TrialResult first = run_trial(entry, spec_for("model:haswell"));
    const TrialResult second = run_trial(entry, spec_for("model:haswell"));
    EXPECT_EQ(first.rows[1].duration_ns, second.rows[1].duration_ns);
    EXPECT_EQ(first.simulated_accesses, second.simulated_accesses);
}

TEST(TrialRunner, KnowsBeforehandWhatCannotRun) {
    TrialSpec spec = spec_for("model:haswell");
    spec.cpus = 9;
    EXPECT_THAT([&] { require_runnable(spec); },
                ThrowsMessage<UsageError>("--cpus 9: model:haswell has 8 CPUs"));
    spec = spec_for("native");
    spec.cpus = static_cast<unsigned>(native::allowed_cpus().size()) + 1;
    EXPECT_THROW(require_runnable(spec), CannotMeasure);
    spec = spec_for("native");
    spec.policy = "ovs2016";
    if (!native::rtm_commits()) {
        EXPECT_THROW(require_runnable(spec), CannotMeasure);
    } else {
        EXPECT_NO_THROW(require_runnable(spec));
    }
    EXPECT_NO_THROW(require_runnable(spec_for("native")));
}

}  // namespace
}  // namespace abortscope
