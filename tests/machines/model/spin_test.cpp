// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

using Word = Line<M::Atomic<std::uint32_t>>;
using Counter = Line<M::Cell<std::uint64_t>>;

struct Outcome {
    std::uint64_t duration_ns = 0;
    EventCounts counts;
    std::vector<std::uint64_t> seen;
};

/// Ticket locks (everybody spins on one word), bounded spins, sleepers that wake into the middle
/// of it, more workers than CPUs, sibling threads: all that can end a parking.
Outcome spin_workload(bool park, std::uint64_t seed, unsigned workers, unsigned cpus) {
    Preset preset = haswell();
    preset.lookahead_cycles = preset.shared_lookahead_cycles = 0;
    preset.timer_hz = 20'000;
    preset.slice_ns = 30'000;
    preset.sched_latency_ns = 60'000;
    preset.wakeup_granularity_ns = 10'000;
    EngineOptions opts = options(workers, seed);
    opts.cpus = cpus;
    opts.park_spinners = park;
    Bench bench(preset, opts);
    auto next = make_owned<M, Word>("next");
    auto owner = make_owned<M, Word>("owner");
    auto counter = make_owned<M, Counter>("counter");
    Outcome outcome;
    outcome.seen.resize(workers);
    outcome.duration_ns = bench.run([&](unsigned worker) {
        Random random(seed, 77 + worker);
        std::uint64_t pauses = 0;
        for (int i = 0; i < 40; ++i) {
            const std::uint32_t ticket = next->value.fetch_add(1);
            const std::uint32_t bound = static_cast<std::uint32_t>(random.below(60));
            const std::uint32_t value = M::spin_until(
                owner->value, [&](std::uint32_t word) { return word == ticket; }, bound);
            pauses += value;
            M::spin_until(owner->value, [&](std::uint32_t word) { return word == ticket; });
            const std::uint64_t old = counter->value;
            M::compute(random.below(400));
            counter->value = old + 1;
            owner->value.fetch_add(1);
            if (random.below(8) == 0) M::sleep_for_ns(random.below(20'000));
        }
        outcome.seen[worker] = pauses;
    });
    EXPECT_EQ(std::uint64_t{counter->value}, 40u * workers);
    outcome.counts = bench.counts();
    return outcome;
}

TEST(ModelSpin, ParkingChangesNoCountAndNoTime) {
    for (const auto& [workers, cpus] :
         {std::pair{2u, 0u}, std::pair{4u, 0u}, std::pair{8u, 0u}, std::pair{6u, 3u}}) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const Outcome parked = spin_workload(true, seed, workers, cpus);
            const Outcome executed = spin_workload(false, seed, workers, cpus);
            EXPECT_EQ(parked.duration_ns, executed.duration_ns) << workers << " seed " << seed;
            EXPECT_EQ(parked.seen, executed.seen) << workers << " seed " << seed;
            EXPECT_EQ(std::memcmp(&parked.counts, &executed.counts, sizeof(EventCounts)), 0)
                << workers << " workers, seed " << seed << ": accesses " << parked.counts.accesses
                << " and " << executed.counts.accesses;
        }
    }
}

TEST(ModelSpin, SpinningForEverOnAWordThatNobodyWillChangeIsADeadlock) {
    Bench bench(2);
    auto word = make_owned<M, Word>("flag");
    try {
        bench.run([&](unsigned worker) {
            if (worker == 0) return;
            M::spin_until(word->value, [](std::uint32_t value) { return value != 0; });
        });
        FAIL();
    } catch (const Deadlock& deadlock) {
        EXPECT_STREQ(deadlock.what(),
                     "deadlock: every worker waits; worker 1 spins on flag (value 0, never "
                     "written)");
    }
}

TEST(ModelSpin, ABoundedSpinEndsByItself) {
    Bench bench(1, quiet_haswell());
    auto word = make_owned<M, Word>("flag");
    const std::uint64_t took = bench.run([&](unsigned) {
        for (int i = 0; i < 100; ++i) {
            M::spin_until(
                word->value, [](std::uint32_t value) { return value != 0; }, 1000);
        }
    });
    const Preset preset = quiet_haswell();
    const std::uint64_t round = preset.l1_hit_cycles + preset.pause_cycles;
    EXPECT_NEAR(static_cast<double>(preset.cycles_of_ns(took)),
                static_cast<double>(100 * 1000 * round), 5000.0);
}

}  // namespace
}  // namespace abortscope::model
