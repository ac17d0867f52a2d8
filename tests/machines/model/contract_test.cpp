// SPDX-License-Identifier: Apache-2.0
//
// What the engine promises beyond transactions and time: see docs/model.md.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

using Counter = Line<M::Cell<std::uint64_t>>;

// What compiles for the model must compile for native, where a Cell is a plain value; copying one
// would be a load that nobody sees.
static_assert(!std::is_copy_constructible_v<M::Cell<int>>);
static_assert(!std::is_copy_assignable_v<M::Cell<int>>);
static_assert(!std::is_copy_constructible_v<M::Atomic<int>>);
static_assert(sizeof(M::Cell<void*>) == sizeof(void*));
static_assert(sizeof(M::Atomic<std::uint8_t>) == 1);
static_assert(sizeof(LineState) <= 32);

TEST(ModelContract, ARollbackTakesTheWrittenLinesOutOfL1) {
    Preset preset = quiet_haswell();
    preset.background_lines = 0;
    Bench bench(1, preset);
    auto cell = make_owned<M, Counter>("cell");
    std::uint64_t misses_before = 0;
    bench.run([&](unsigned) {
        cell->value = 1;  // now in L1
        if (M::begin().is_started()) {
            cell->value = 2;
            M::abort<1>();
        }
        misses_before = bench.counts().l1_misses;
        EXPECT_EQ(std::uint64_t{cell->value}, 1u);
    });
    EXPECT_EQ(bench.counts().l1_misses, misses_before + 1);
}

TEST(ModelContract, ExceptionsInFlightBelongToTheirWorker) {
    Bench bench(4);
    auto cell = make_owned<M, Counter>("cell");
    int caught = 0;
    bench.run([&](unsigned worker) {
        for (int i = 0; i < 200; ++i) {
            const std::string thrown = std::to_string(worker * 1000 + static_cast<unsigned>(i));
            try {
                struct AccessOnUnwinding {
                    Counter& counter;
                    ~AccessOnUnwinding() { counter.value += 1u; }  // gives way while unwinding
                } unwinding{*cell};
                throw std::runtime_error(thrown);
            } catch (const std::runtime_error& error) {
                if (error.what() == thrown) ++caught;
            }
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        }
    });
    EXPECT_EQ(caught, 800);
}

TEST(ModelContract, ADescribedRangeIsNamedByItsSmallestDescription) {
    Bench bench(1);
    auto words = make_owned_array<M, M::Cell<std::uint64_t>>("table", 8);
    M::describe(words.get() + 2, 8, "table.count");
    const Arena& arena = bench.team.engine().arena();
    EXPECT_EQ(arena.name_of(arena.offset_of(words.get())), "table");
    EXPECT_EQ(arena.name_of(arena.offset_of(words.get() + 1)), "table+8");
    EXPECT_EQ(arena.name_of(arena.offset_of(words.get() + 2)), "table.count");
}

TEST(ModelContract, AConflictKnowsKillerVictimLineAndBytes) {
    Bench bench(2, quiet_haswell());
    auto words = make_owned_array<M, M::Cell<std::uint64_t>>("pair", 8);
    bench.run([&](unsigned worker) {
        if (worker == 1) {
            M::compute(20'000);
            M::site("writing its neighbour");
            words.get()[1] = 7;
            return;
        }
        if (M::begin().is_started()) {
            (void)std::uint64_t{words.get()[0]};
            M::compute(100'000);
            M::commit();
        }
    });
    const auto& lines = bench.team.engine().attribution().lines();
    ASSERT_EQ(lines.size(), 1u);
    const LineHistory& line = lines.begin()->second;
    EXPECT_EQ(line.conflicts, 1u);
    EXPECT_EQ(line.false_sharing, 1u) << "disjoint bytes";
    EXPECT_STREQ(line.killer_site, "writing its neighbour");
    ASSERT_EQ(line.parties.size(), 2u);
    for (const LineParty& party : line.parties) {
        EXPECT_EQ(party.died, party.worker == 0 ? 1u : 0u);
        EXPECT_EQ(party.read, party.worker == 0 ? 0xffu : 0u);
        EXPECT_EQ(party.written, party.worker == 0 ? 0u : 0xff00u);
    }
}

TEST(ModelContract, ACapacityAbortNamesSetAndWay) {
    Preset preset = quiet_haswell();
    Bench bench(1, preset);
    auto lines = make_owned_array<M, Counter>("lines", 64 * 9);
    const std::uint64_t first =
        bench.team.engine().arena().offset_of(lines.get()) / line_bytes % 64;
    bench.run([&](unsigned) {
        if (M::begin().is_started()) {
            for (int i = 0; i < 9; ++i) lines.get()[i * 64].value = 1;
            M::commit();
        }
    });
    const Attribution& attribution = bench.team.engine().attribution();
    std::uint64_t in_set = 0;
    for (std::uint32_t way = 0; way < attribution.ways(); ++way) {
        in_set += attribution.capacity_map()[first * attribution.ways() + way];
    }
    EXPECT_EQ(in_set, 1u);
}

}  // namespace
}  // namespace abortscope::model
