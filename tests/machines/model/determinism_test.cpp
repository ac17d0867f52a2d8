// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

using Word = Line<M::Atomic<std::uint32_t>>;

struct Outcome {
    EventCounts counts;
    std::uint64_t duration_ns = 0;
    bool operator==(const Outcome& other) const {
        return duration_ns == other.duration_ns &&
               std::memcmp(&counts, &other.counts, sizeof counts) == 0;
    }
    double abort_rate() const {
        return static_cast<double>(counts.tx_abort) / static_cast<double>(counts.tx_start);
    }
};

/// Elided updates of random slots of a small table, real acquisitions among them.
Outcome mixed_workload(const Preset& preset, std::uint64_t seed, unsigned workers = 4,
                       int rounds = 2000) {
    Bench bench(workers, preset, seed);
    auto lock = make_owned<M, Word>("lock");
    auto table = make_owned_array<M, M::Cell<std::uint64_t>>("table", 512);
    Outcome outcome;
    outcome.duration_ns = bench.run([&](unsigned worker) {
        Random random(seed, worker);
        for (int i = 0; i < rounds; ++i) {
            const std::uint64_t from = random.below(512);
            const std::uint64_t to = random.below(512);
            for (int attempt = 0;; ++attempt) {
                if (attempt == 4) {
                    while (lock->value.exchange(1) != 0) {
                        M::spin_until(lock->value, [](std::uint32_t word) { return word == 0; });
                    }
                    table.get()[from] -= 1u;
                    table.get()[to] += 1u;
                    lock->value.store(0, std::memory_order_release);
                    break;
                }
                const rtm::Status status = M::begin();
                if (!status.is_started()) {
                    M::log().record_abort(status);
                    continue;
                }
                if (lock->value.load(std::memory_order_relaxed) != 0) M::abort<0xff>();
                table.get()[from] -= 1u;
                M::compute(40);
                table.get()[to] += 1u;
                M::commit();
                break;
            }
        }
    });
    outcome.counts = bench.counts();
    std::uint64_t sum = 0;
    for (int i = 0; i < 512; ++i) sum += std::uint64_t{table.get()[i]};
    EXPECT_EQ(sum, 0u) << "an update was lost";
    return outcome;
}

TEST(ModelDeterminism, TheSameSeedGivesTheSameCountsAndTime) {
    EXPECT_EQ(mixed_workload(haswell(), 7), mixed_workload(haswell(), 7));
}

TEST(ModelDeterminism, AnotherSeedGivesOtherCounts) {
    EXPECT_FALSE(mixed_workload(haswell(), 7) == mixed_workload(haswell(), 8));
}

TEST(ModelDeterminism, TheHostThreadMakesNoDifference) {
    const Outcome here = mixed_workload(haswell(), 3);
    Outcome there;
    std::thread other([&] { there = mixed_workload(haswell(), 3); });
    const Outcome meanwhile = mixed_workload(haswell(), 3);
    other.join();
    EXPECT_EQ(here, there);
    EXPECT_EQ(here, meanwhile);
}

TEST(ModelDeterminism, RunningAheadMovesAbortRateAndTimeByLessThanThreePercent) {
    Preset exact = haswell();
    exact.lookahead_cycles = exact.shared_lookahead_cycles = 0;
    double rate_ahead = 0;
    double rate_exact = 0;
    double time_ahead = 0;
    double time_exact = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Outcome ahead = mixed_workload(haswell(), seed, 4, 1000);
        const Outcome truth = mixed_workload(exact, seed, 4, 1000);
        rate_ahead += ahead.abort_rate();
        rate_exact += truth.abort_rate();
        time_ahead += static_cast<double>(ahead.duration_ns);
        time_exact += static_cast<double>(truth.duration_ns);
    }
    EXPECT_GT(rate_exact, 0.05);
    EXPECT_NEAR(rate_ahead / rate_exact, 1.0, 0.03);
    EXPECT_NEAR(time_ahead / time_exact, 1.0, 0.03);
}

/// Two workers change a header in transactions, two look at it outside.
double abort_rate_beside_readers(const Preset& preset, std::uint64_t seed) {
    Bench bench(4, preset, seed);
    auto header = make_owned_array<M, M::Cell<std::uint64_t>>("header", 8);
    bench.run([&](unsigned worker) {
        Random random(seed, worker);
        for (int i = 0; i < 1000; ++i) {
            M::compute(50 + random.below(100));
            if (worker < 2) {
                retry_for_ever([&] {
                    header.get()[0] += 1u;
                    M::compute(60);
                    header.get()[1] += 1u;
                });
            } else {
                for (int field = 0; field < 4; ++field) {
                    (void)std::uint64_t{header.get()[field]};
                    M::compute(25);
                }
            }
        }
    });
    const EventCounts counts = bench.counts();
    return static_cast<double>(counts.tx_abort) / static_cast<double>(counts.tx_start);
}

TEST(ModelDeterminism, RunningAheadOutsideTransactionsMovesTheAbortRateByLessThanThreePercent) {
    Preset exact = haswell();
    exact.lookahead_cycles = exact.shared_lookahead_cycles = 0;
    Preset careless = haswell();
    careless.shared_lookahead_cycles = careless.lookahead_cycles;
    double rate_ahead = 0;
    double rate_exact = 0;
    double rate_careless = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        rate_ahead += abort_rate_beside_readers(haswell(), seed);
        rate_exact += abort_rate_beside_readers(exact, seed);
        rate_careless += abort_rate_beside_readers(careless, seed);
    }
    EXPECT_GT(rate_exact / 60, 0.05);
    EXPECT_NEAR(rate_ahead / rate_exact, 1.0, 0.03);
    // That contested lines are a case of their own is what holds the bound.
    EXPECT_GT(std::abs(rate_careless / rate_exact - 1.0), 0.03);
}

TEST(ModelDeterminism, TwoHundredFiftySixWorkersOnManyCoresLoseNothing) {
    Preset big = haswell();
    big.sockets = 4;
    big.cores_per_socket = 32;
    EXPECT_EQ(mixed_workload(big, 5, 256, 20), mixed_workload(big, 5, 256, 20));
}

}  // namespace
}  // namespace abortscope::model
