// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

using Word = Line<M::Atomic<std::uint64_t>>;

std::uint64_t increments_by_cas(const Preset& preset, unsigned workers, EventCounts* counts) {
    Bench bench(workers, preset);
    auto word = make_owned<M, Word>("word");
    bench.run([&](unsigned) {
        for (int i = 0; i < 2000; ++i) {
            std::uint64_t old = word->value.load();
            while (!word->value.compare_exchange_weak(old, old + 1)) {
            }
        }
    });
    if (counts != nullptr) *counts = bench.counts();
    return word->value.load();
}

TEST(ModelAtomics, NoUpdateIsLostHoweverThePresetDoesCompareAndSwap) {
    for (const char* name : {"haswell", "thunderx2", "thunderx2-llsc"}) {
        EXPECT_EQ(increments_by_cas(*find_preset(name), 8, nullptr), 16'000u) << name;
    }
}

TEST(ModelAtomics, AFarAtomicLeavesTheLineAtItsHome) {
    Preset preset = *find_preset("thunderx2");
    preset.timer_hz = 1;
    Bench bench(2, preset);
    auto word = make_owned<M, Word>("word");
    bench.run([&](unsigned worker) {
        for (int i = 0; i < 100; ++i) {
            word->value.fetch_add(1);
            M::compute(worker == 0 ? 500 : 700);
        }
    });
    // A worker that owned the line keeps it for its own atomics until the other one's takes it
    // home; from then on neither core gets it, so nothing is transferred between them.
    EXPECT_LE(bench.counts().cache_transfers, 2u);
    EXPECT_GT(bench.counts().l1_misses, 150u);
}

TEST(ModelAtomics, ALoadLinkedPairThatFindsAnotherValueDoesNotTakeTheLine) {
    Preset preset = *find_preset("thunderx2-llsc");
    Bench bench(2, preset);
    auto word = make_owned<M, Word>("word");
    bench.run([&](unsigned) {
        for (int i = 0; i < 200; ++i) {
            std::uint64_t expected = 1;
            EXPECT_FALSE(word->value.compare_exchange_strong(expected, 2));
            M::compute(100);
        }
    });
    EXPECT_EQ(bench.counts().upgrades, 0u);
    EXPECT_LE(bench.counts().cache_transfers, 1u);
}

}  // namespace
}  // namespace abortscope::model
