// SPDX-License-Identifier: Apache-2.0
//
// A transaction that has run ahead and is taken back leaves no trace: what comes out is what comes
// out where nobody runs ahead.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

struct TakenBack final : Observer {
    unsigned times = 0;
    std::array<std::vector<Cycles>, 4> accesses;  ///< by worker

    void accessed(unsigned worker, const AccessEvent& event) override {
        accesses[worker].push_back(event.time);
    }
    void taken_back(unsigned worker, Cycles settled, std::uint64_t last) override {
        ++times;
        ASSERT_LE(last, accesses[worker].size());
        accesses[worker].resize(accesses[worker].size() - last);
        EXPECT_TRUE(accesses[worker].empty() || accesses[worker].back() <= settled);
    }
};

struct Outcome {
    EventCounts counts;
    std::uint64_t duration_ns = 0;
    std::array<std::uint64_t, 8> values{};

    bool operator==(const Outcome& other) const {
        return duration_ns == other.duration_ns && values == other.values &&
               std::memcmp(&counts, &other.counts, sizeof counts) == 0;
    }
};

/// As quiet_haswell, without what counts hits: the background lines. (What L1 replaces next depends
/// on hits too, but eight lines displace none.)
Preset bare_haswell(std::uint32_t lookahead) {
    Preset preset = quiet_haswell();
    preset.background_lines = 0;
    preset.lookahead_cycles = preset.shared_lookahead_cycles = lookahead;
    return preset;
}

/// Transactions that read and write some of eight lines, after a few reads that often hit.
Outcome transfers(std::uint32_t lookahead, std::uint64_t seed, unsigned workers,
                  Observer* observer = nullptr) {
    EngineOptions with = options(workers, seed);
    with.observer = observer;
    Bench bench(bare_haswell(lookahead), with);
    auto lines = make_owned_array<M, Line<M::Cell<std::uint64_t>>>("line", 8);
    Outcome outcome;
    outcome.duration_ns = bench.run([&](unsigned worker) {
        Random random(seed, worker);
        for (int i = 0; i < 400; ++i) {
            for (std::uint64_t attempt = 0;; ++attempt) {
                M::compute(40 * attempt * (1 + worker));  // or some seeds take for ever
                if (!M::begin().is_started()) continue;
                Random draws = random;
                std::uint64_t sum = 0;
                for (int reads = 0; reads < 3; ++reads) sum += lines.get()[draws.below(8)].value;
                auto& own = lines.get()[worker % 8].value;
                own = own + std::uint64_t{1};
                M::compute(draws.below(80));
                if (draws.below(4) == 0) lines.get()[draws.below(8)].value = sum;
                M::commit();
                break;
            }
            (void)random.next();
        }
    });
    outcome.counts = bench.counts();
    // A transaction that an abort ends has made the hits that it was ahead by, and they count.
    outcome.counts.accesses = 0;
    for (std::size_t i = 0; i < 8; ++i) outcome.values[i] = lines.get()[i].value;
    return outcome;
}

TEST(ModelTakingBack, TakingBackIsAsIfNobodyHadRunAhead) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (const unsigned workers : {2u, 4u}) {
            const Outcome exact = transfers(0, seed, workers);
            EXPECT_GT(exact.counts.tx_conflict, 20u);
            TakenBack seen;
            EXPECT_EQ(transfers(100, seed, workers, &seen), exact) << seed << ", " << workers;
            EXPECT_GT(seen.times, 10u);
            EXPECT_EQ(transfers(1000, seed, workers), exact) << seed << ", " << workers;
        }
    }
}

void wait_until(Cycles time) {
    const Cycles now = haswell().cycles_of_ns(M::now_ns());
    M::compute(time - now);
}

TEST(ModelTakingBack, AStoreAtAnEarlierTimeIsSeenAndAbortsNobody) {
    for (const std::uint32_t lookahead : {0u, 1000u}) {
        EngineOptions with = options(2);
        TakenBack seen;
        with.observer = &seen;
        Bench bench(bare_haswell(lookahead), with);
        auto word = make_owned<M, Line<M::Cell<std::uint64_t>>>("word");
        bench.run([&](unsigned worker) {
            (void)std::uint64_t{word->value};
            if (worker == 1) {
                wait_until(50'300);
                word->value = 7;
                return;
            }
            wait_until(50'000);
            const rtm::Status status = M::begin();
            ASSERT_TRUE(status.is_started());
            M::compute(700);  // the store has been meanwhile
            const std::uint64_t seen_value = word->value;
            M::commit();
            EXPECT_EQ(seen_value, 7u);
        });
        EXPECT_EQ(bench.counts().tx_commit, 1u);
        EXPECT_EQ(bench.counts().tx_abort, 0u);
        EXPECT_EQ(seen.times, lookahead == 0 ? 0u : 1u);
    }
}

TEST(ModelTakingBack, WhatAnObserverIsToldInTheEndHappened) {
    TakenBack ahead;
    (void)transfers(100, 1, 4, &ahead);
    EXPECT_GT(ahead.times, 10u);
    for (const std::vector<Cycles>& accesses : ahead.accesses) {
        EXPECT_GT(accesses.size(), 1000u);
        EXPECT_TRUE(std::is_sorted(accesses.begin(), accesses.end()));
    }
}

}  // namespace
}  // namespace abortscope::model
