// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

using Counter = Line<M::Cell<std::uint64_t>>;
using Word = Line<M::Atomic<std::uint32_t>>;

TEST(ModelTransaction, TwoRetryForEverWorkersMakeProgressAndLoseNoUpdate) {
    Bench bench(2);
    auto counter = make_owned<M, Counter>("counter");
    bench.run([&](unsigned) {
        for (int i = 0; i < 5000; ++i) {
            retry_for_ever([&] {
                const std::uint64_t old = counter->value;
                M::compute(50);
                counter->value = old + 1;
            });
        }
    });
    EXPECT_EQ(std::uint64_t{counter->value}, 10'000u);
    const EventCounts counts = bench.counts();
    EXPECT_EQ(counts.tx_start, counts.tx_commit + counts.tx_abort);
    EXPECT_EQ(counts.tx_commit, 10'000u);
    EXPECT_GT(counts.tx_conflict, 0u);
}

TEST(ModelTransaction, LocalsAndRegistersAreRestoredByAnAbort) {
    Bench bench(1, quiet_haswell());
    auto cell = make_owned<M, Counter>("cell");
    bench.run([&](unsigned) {
        volatile int in_memory = 1;
        int in_register = 10;
        int attempts = 0;  // rolled back too: always 0 at the second return
        const rtm::Status status = M::begin();
        if (status.is_started()) {
            in_memory = 2;
            in_register = 20;
            ++attempts;
            cell->value = 99;
            M::abort<0x42>();
        }
        EXPECT_EQ(status.word(), 0x42000001u);
        EXPECT_EQ(in_memory, 1);
        EXPECT_EQ(in_register, 10);
        EXPECT_EQ(attempts, 0);
        EXPECT_EQ(std::uint64_t{cell->value}, 0u);
    });
}

// As in real code: lock() returns while its transaction is open, and returns once more.
struct OpenOnReturn {
    rtm::Status lock() { return M::begin(this); }
};

__attribute__((noinline)) int deeper(int depth, OpenOnReturn& lock, rtm::Status& status) {
    volatile int local = depth;
    if (depth == 0) {
        status = lock.lock();
        return local;
    }
    const int below = deeper(depth - 1, lock, status);
    return below + local;
}

TEST(ModelTransaction, ALockThatReturnedWithItsTransactionOpenReturnsAgain) {
    Bench bench(1, quiet_haswell());
    auto cell = make_owned<M, Counter>("cell");
    bench.run([&](unsigned) {
        OpenOnReturn lock;
        rtm::Status status;
        const int sum = deeper(6, lock, status);
        EXPECT_EQ(sum, 21);
        if (status.is_started()) {
            // The frames of deeper() are gone and get overwritten before the abort.
            volatile char scratch[512];
            for (volatile char& byte : scratch) byte = 0x55;
            cell->value = 7;
            M::abort<1>();
            ADD_FAILURE() << "an abort inside a transaction does not return";
        }
        EXPECT_EQ(status.word(), 0x01000001u);
        EXPECT_EQ(std::uint64_t{cell->value}, 0u);
    });
    EXPECT_EQ(bench.counts().tx_abort, 1u);
}

TEST(ModelTransaction, AbortOutsideATransactionDoesNothing) {
    Bench bench(1);
    bench.run([&](unsigned) { M::abort<0xff>(); });
    EXPECT_EQ(bench.counts().tx_abort, 0u);
}

TEST(ModelTransaction, CommitOutsideATransactionIsTheCallersBug) {
    Bench bench(1);
    EXPECT_THROW(bench.run([&](unsigned) { M::commit(); }), WorkloadError);
}

TEST(ModelTransaction, SystemCallsAndPauseAbortWithStatusZero) {
    Bench bench(1, quiet_haswell());
    auto word = make_owned<M, Word>("word");
    std::map<int, std::uint32_t> seen;
    bench.run([&](unsigned) {
        for (int kind = 0; kind < 5; ++kind) {
            const rtm::Status status = M::begin();
            if (status.is_started()) {
                switch (kind) {
                    case 0:
                        M::system_call(SystemCall::null);
                        break;
                    case 1:
                        M::pause();
                        break;
                    case 2:
                        M::yield();
                        break;
                    case 3:
                        M::futex_wake(word->value, 1);
                        break;
                    case 4:
                        M::futex_wait(word->value, 0);
                        break;
                }
                ADD_FAILURE() << "kind " << kind << " did not abort";
                M::commit();
            }
            seen[kind] = status.word();
        }
    });
    for (int kind = 0; kind < 5; ++kind) EXPECT_EQ(seen[kind], 0u) << kind;
    EXPECT_EQ(bench.counts().abort_unfriendly, 5u);
}

TEST(ModelTransaction, AStatusZeroAbortIsRolledBackLikeAnyOther) {
    Bench bench(1, quiet_haswell());
    auto cell = make_owned<M, Counter>("cell");
    bench.run([&](unsigned) {
        const rtm::Status status = M::begin();
        if (status.is_started()) {
            cell->value = 5;
            M::pause();
        }
        EXPECT_EQ(status.word(), 0u);
        EXPECT_FALSE(M::in_transaction());
        EXPECT_EQ(std::uint64_t{cell->value}, 0u);
    });
    EXPECT_EQ(bench.counts().tx_abort, 1u);
    EXPECT_EQ(bench.counts().tx_start, 1u);
}

TEST(ModelTransaction, AnInnerAbortCarriesItsCodeAndTheNestedBitToTheOutermostBegin) {
    Bench bench(1, quiet_haswell());
    auto cell = make_owned<M, Counter>("cell");
    bench.run([&](unsigned) {
        int inner_returns = 0;
        const rtm::Status outer = M::begin();
        if (outer.is_started()) {
            cell->value = 1;
            const rtm::Status inner = M::begin();
            ++inner_returns;
            EXPECT_TRUE(inner.is_started());
            M::abort<0xfd>();
        }
        EXPECT_EQ(outer.word(), 0xfd000021u);
        EXPECT_EQ(inner_returns, 0);
        EXPECT_EQ(std::uint64_t{cell->value}, 0u);
    });
}

TEST(ModelTransaction, InnerCommitsPublishNothingBeforeTheOutermostOne) {
    Bench bench(1, quiet_haswell());
    auto cell = make_owned<M, Counter>("cell");
    bench.run([&](unsigned) {
        const rtm::Status outer = M::begin();
        if (outer.is_started()) {
            EXPECT_TRUE(M::begin().is_started());
            cell->value = 1;
            M::commit();
            EXPECT_TRUE(M::in_transaction());
            M::abort<3>();
        }
        EXPECT_EQ(outer.word(), 0x03000001u);  // the inner one is over: no nested bit
        EXPECT_EQ(std::uint64_t{cell->value}, 0u);
    });
    EXPECT_EQ(bench.counts().tx_start, 1u);
    EXPECT_EQ(bench.counts().tx_commit, 0u);
}

TEST(ModelTransaction, NestingGoesToSevenAndTheEighthAbortsWithTheNestedBitAlone) {
    Bench bench(1, quiet_haswell());
    bench.run([&](unsigned) {
        for (int depth = 1; depth <= 9; ++depth) {
            const rtm::Status status = M::begin();
            if (status.is_started()) {
                for (int i = 1; i < depth; ++i) M::begin();
                for (int i = 0; i < depth; ++i) M::commit();
                EXPECT_LE(depth, 7);
            } else {
                EXPECT_GT(depth, 7);
                EXPECT_EQ(status.word(), 0x20u);
            }
        }
    });
    EXPECT_EQ(bench.counts().tx_commit, 7u);
    EXPECT_EQ(bench.counts().nest_overflow, 2u);
}

TEST(ModelTransaction, APlainStoreAbortsAReaderAndTheReaderSawTheOldValue) {
    Bench bench(2, quiet_haswell());
    auto cell = make_owned<M, Counter>("cell");
    bench.run([&](unsigned worker) {
        if (worker == 1) {
            M::compute(20'000);
            cell->value = 1;
            return;
        }
        const rtm::Status status = M::begin();
        if (status.is_started()) {
            EXPECT_EQ(std::uint64_t{cell->value}, 0u);
            M::compute(100'000);
            M::commit();
            ADD_FAILURE() << "the store must have aborted the reader";
        }
        EXPECT_EQ(status.word(), 0x6u);
        EXPECT_EQ(std::uint64_t{cell->value}, 1u);
    });
    EXPECT_EQ(bench.counts().tx_conflict, 1u);
    // The abort came at the store, not at the end of the long computation.
    EXPECT_LT(bench.counts().cycles_t, 40'000u);
}

TEST(ModelTransaction, APlainLoadAbortsAWriterAndReadsTheValueFromBefore) {
    Bench bench(2, quiet_haswell());
    auto cell = make_owned<M, Counter>("cell");
    bench.run([&](unsigned worker) {
        if (worker == 1) {
            M::compute(20'000);
            EXPECT_EQ(std::uint64_t{cell->value}, 0u);
            return;
        }
        const rtm::Status status = M::begin();
        if (status.is_started()) {
            cell->value = 1;
            M::compute(100'000);
            M::commit();
            ADD_FAILURE() << "the load must have aborted the writer";
        }
        EXPECT_EQ(status.word(), 0x6u);
    });
}

// Its core is no sharer of the line by then, so another core that reads the line has it alone.
TEST(ModelTransaction, AStoreAbortsAReaderWhoseCoreHasLostTheLine) {
    Bench bench(2, quiet_haswell());
    constexpr std::size_t apart = 512;  // lines from one set of L2 to the same
    struct alignas(4096) Region {
        std::array<Counter, 20 * apart> lines;
    };
    auto region = make_owned<M, Region>("region");
    bench.run([&](unsigned worker) {
        if (worker == 1) {
            M::compute(50'000);
            EXPECT_EQ(std::uint64_t{region->lines[0].value}, 0u);
            region->lines[0].value = 1;
            return;
        }
        const rtm::Status status = M::begin();
        if (status.is_started()) {
            EXPECT_EQ(std::uint64_t{region->lines[0].value}, 0u);
            for (std::size_t i = 1; i < 20; ++i)
                (void)std::uint64_t{region->lines[i * apart].value};
            M::compute(200'000);
            M::commit();
            ADD_FAILURE() << "the store must have aborted the reader";
        }
        EXPECT_EQ(status.word(), 0x6u);
    });
    EXPECT_EQ(bench.counts().tx_conflict, 1u);
}

TEST(ModelTransaction, AnEliderAndAPlainOwnerOfTheSameLockLoseNoUpdate) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Bench bench(4, haswell(), seed);
        auto lock = make_owned<M, Word>("lock");
        auto counter = make_owned<M, Counter>("counter");
        bench.run([&](unsigned worker) {
            for (int i = 0; i < 300; ++i) {
                if (worker % 2 == 0) {
                    retry_for_ever([&] {
                        if (lock->value.load() != 0) M::abort<0xff>();
                        const std::uint64_t old = counter->value;
                        counter->value = old + 1;
                    });
                } else {
                    while (lock->value.exchange(1) != 0) {
                        M::spin_until(lock->value, [](std::uint32_t word) { return word == 0; });
                    }
                    const std::uint64_t old = counter->value;
                    M::compute(30);
                    counter->value = old + 1;
                    lock->value.store(0, std::memory_order_release);
                }
            }
        });
        EXPECT_EQ(std::uint64_t{counter->value}, 1200u) << "seed " << seed;
    }
}

TEST(ModelTransaction, MemoryTakenInsideIsGivenBackByAnAbort) {
    Bench bench(1, quiet_haswell());
    std::uintptr_t first = 0;
    bench.run([&](unsigned) {
        void* warm = M::allocate(64, 16);
        M::deallocate(warm, 64, 16);
        const rtm::Status status = M::begin();
        if (status.is_started()) {
            void* inside = M::allocate(64, 16);
            EXPECT_EQ(inside, warm);
            M::abort<1>();
        }
        void* again = M::allocate(64, 16);
        first = reinterpret_cast<std::uintptr_t>(again);
        EXPECT_EQ(again, warm);

        // Freed inside an aborted transaction: still allocated.
        const rtm::Status second = M::begin();
        if (second.is_started()) {
            M::deallocate(again, 64, 16);
            M::abort<1>();
        }
        EXPECT_NE(M::allocate(64, 16), again);
    });
    EXPECT_NE(first, 0u);
}

TEST(ModelTransaction, TheFirstTouchOfAPageAbortsUntilItIsTouchedOutside) {
    Bench bench(1, quiet_haswell());
    bench.run([&](unsigned) {
        // Beyond anything touched so far.
        auto* place = static_cast<char*>(M::allocate(1 << 20, 64)) + (1 << 19);
        auto* cell = reinterpret_cast<M::Cell<std::uint64_t>*>(place);
        for (int attempt = 0; attempt < 3; ++attempt) {
            const rtm::Status status = M::begin();
            if (status.is_started()) {
                *cell = 1;
                M::commit();
                ADD_FAILURE() << "a page fault aborts";
            }
            EXPECT_EQ(status.word(), 0u);
        }
        *cell = 2;
        if (M::begin().is_started()) {
            *cell = 3;
            M::commit();
        }
        EXPECT_EQ(std::uint64_t{*cell}, 3u);
    });
    EXPECT_EQ(bench.counts().page_faults, 1u);
    EXPECT_EQ(bench.counts().abort_events, 3u);
}

TEST(ModelTransaction, AnExceptionOfAWorkerEndsTheRunWithItsMessage) {
    Bench bench(2);
    try {
        bench.run([&](unsigned worker) {
            M::compute(100);
            if (worker == 1) throw std::runtime_error("worker one gave up");
        });
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "worker one gave up");
    }
}

TEST(ModelTransaction, SharedDataOutsideTheArenaIsAnError) {
    Bench bench(1);
    EXPECT_THROW(bench.run([&](unsigned) { M::Cell<std::uint64_t> local{0}; }), WorkloadError);
}

}  // namespace
}  // namespace abortscope::model
