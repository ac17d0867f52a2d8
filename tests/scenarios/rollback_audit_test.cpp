// SPDX-License-Identifier: Apache-2.0
//
// Aborts at random points of elided sections must leave no trace: every scenario's own check holds
// at any rate of them. And the checks are real: a lock that excludes nobody, and a write that no
// abort undoes, fail them.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "machines/model/model_machine.hpp"
#include "primitives/elided_lock.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/owned.hpp"
#include "scenarios/ovs_cmap.hpp"
#include "scenarios/ovs_hmap.hpp"
#include "tests/scenarios/small_trials.hpp"

namespace abortscope {
namespace {

using M = model::ModelMachine;

class RollbackAudit : public OnTheModel {};

/// Injection strikes accesses: at these rates sections of some ten accesses abort now and then,
/// about every other time, and almost always.
constexpr std::array<std::uint32_t, 3> injected_ppm{5'000, 60'000, 250'000};

TEST_F(RollbackAudit, EveryOracleHoldsAtAnyRateOfAbortsOnFiftySeeds) {
    double worst_rate = 0;
    for (const ScenarioEntry& entry : scenarios()) {
        if (entry.info->locks.empty()) continue;
        TrialSpec spec = small_trial(*entry.info, 4);
        for (const std::uint32_t ppm : injected_ppm) {
            std::uint64_t attempts = 0;
            std::uint64_t aborts = 0;
            for (spec.seed = 1; spec.seed <= 50; ++spec.seed) {
                spec.policy = spec.seed % 2 == 0 ? "ovs2016" : "kleen-wait";
                ModelSetting setting;
                setting.injected_aborts_ppm = ppm;
                TrialOutcome outcome;
                ASSERT_NO_THROW(outcome = run_model(spec, setting))
                    << spec.scenario->name << ' ' << spec.policy << " seed " << spec.seed;
                ASSERT_EQ(outcome.counts.tx_start,
                          outcome.counts.tx_commit + outcome.counts.tx_abort);
                ASSERT_EQ(outcome.counts.tx_abort, outcome.aborts());
                ASSERT_EQ(outcome.sum(&AbortLog::acquisitions),
                          outcome.sum(&AbortLog::elided) + outcome.sum(&AbortLog::fallbacks));
                attempts += outcome.sum(&AbortLog::attempts);
                aborts += outcome.aborts();
            }
            ASSERT_GT(aborts, 0u);
            worst_rate =
                std::max(worst_rate, static_cast<double>(aborts) / static_cast<double>(attempts));
        }
    }
    EXPECT_GT(worst_rate, 0.9) << "the audit never was severe";
}

struct NoLock {
    void lock() {}
    void unlock() {}
    void lock_shared() {}
    void unlock_shared() {}
};

/// Whether some seed's check notices.
template <class Make>
bool some_seed_fails(TrialSpec spec, std::uint32_t ppm, Make make) {
    ModelSetting setting;
    setting.injected_aborts_ppm = ppm;
    for (spec.seed = 1; spec.seed <= 20; ++spec.seed) {
        try {
            run_model(spec, setting, [&] { return make(spec); });
        } catch (const CheckFailed&) {
            return true;
        }
    }
    return false;
}

TEST_F(RollbackAudit, ALockThatExcludesNobodyIsNoticedInTheHmap) {
    const TrialSpec spec = spec_of("ovs-hmap", 4, {{"n", 2000}, {"mutation_pct", 60}});
    EXPECT_TRUE(some_seed_fails(spec, 0, [](const TrialSpec& trial) {
        return std::make_unique<OvsHmap<M, NoLock>>(trial, make_owned<M, NoLock>("no lock"));
    }));
}

TEST_F(RollbackAudit, ALockThatExcludesNobodyIsNoticedInTheCmap) {
    const TrialSpec spec =
        spec_of("ovs-cmap", 4, {{"n", 2000}, {"mutation_pct", 60}, {"batch", 0}});
    EXPECT_TRUE(some_seed_fails(spec, 0, [](const TrialSpec& trial) {
        return std::make_unique<OvsCmap<M, NoLock>>(trial, make_owned<M, NoLock>("no lock"));
    }));
}

/// Elided sections that count themselves in the machine's memory, and in memory of the host, which
/// no abort restores.
template <bool HostMemory>
class CountingScenario final : public Scenario {
  public:
    std::uint64_t run(std::size_t /*phase*/, unsigned /*worker*/) override {
        for (unsigned i = 0; i < sections; ++i) {
            lock_->lock();
            if constexpr (HostMemory) {
                ++host_count_;
                *machine_count_ += std::uint64_t{0};
            } else {
                *machine_count_ += std::uint64_t{1};
            }
            lock_->unlock();
        }
        return sections;
    }
    void check(std::size_t /*phase*/) override {
        const std::uint64_t count = HostMemory ? host_count_ : std::uint64_t{*machine_count_};
        if (count != 2 * sections) throw CheckFailed("sections were counted that did not happen");
    }

  private:
    static constexpr std::uint64_t sections = 200;
    using Lock = ElidedLock<M, FutexMutex<M>>;
    using Count = M::Cell<std::uint64_t>;

    Owned<M, Lock> lock_ = make_owned<M, Lock>("lock", *find_policy("ovs2016"));
    Owned<M, Count> machine_count_ = make_owned<M, Count>("count");
    std::uint64_t host_count_ = 0;
};

TEST_F(RollbackAudit, AWriteThatNoAbortUndoesIsNoticed) {
    const TrialSpec spec = spec_of("lemming", 2);  // for its one phase
    EXPECT_TRUE(some_seed_fails(spec, 100'000, [](const TrialSpec&) {
        return std::make_unique<CountingScenario<true>>();
    }));
    EXPECT_FALSE(some_seed_fails(spec, 100'000, [](const TrialSpec&) {
        return std::make_unique<CountingScenario<false>>();
    }));
}

}  // namespace
}  // namespace abortscope
