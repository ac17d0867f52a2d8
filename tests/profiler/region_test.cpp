// SPDX-License-Identifier: Apache-2.0
#include "profiler/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include "machines/native/elided_mutex.hpp"
#include "tests/machines/native/emulated_rtm_test.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;

class RegionTest : public native::EmulatedRtmTest {
  protected:
    void SetUp() override {
        native::EmulatedRtmTest::SetUp();
        native::NativeMachine::log() =
            AbortLog{};  // whose last acquisition counts as the one before
        reset_regions();
    }
    void TearDown() override {
        stop_counting_regions();
        reset_regions();
    }
};

const Measurement& row(const std::vector<Measurement>& rows, std::string_view lock,
                       std::string_view site) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Measurement& r) {
        return r.lock == lock && r.phase == site;
    });
    EXPECT_NE(found, rows.end()) << lock << " " << site;
    return *found;
}

TEST(Region, CountsByLockAndSite) {
    reset_regions();
    elided_mutex mutex;
    for (int i = 0; i < 3; ++i) {
        const Region region("accounts", "transfer");
        const std::lock_guard guard(mutex);
    }
    {
        const Region region("accounts", "audit");
        const std::lock_guard guard(mutex);
    }
    const auto rows = region_rows();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].phase, "transfer") << "in the order of first use";
    EXPECT_EQ(rows[0].scenario, "region");
    EXPECT_EQ(rows[0].machine, "native");
    EXPECT_EQ(row(rows, "accounts", "transfer").operations(), 3u);
    EXPECT_EQ(row(rows, "accounts", "transfer").log->acquisitions, 3u);
    EXPECT_EQ(row(rows, "accounts", "audit").log->acquisitions, 1u);
    reset_regions();
    EXPECT_TRUE(region_rows().empty());
}

TEST(Region, WhatHappensOutsideARegionIsNobodys) {
    reset_regions();
    elided_mutex mutex;
    { const std::lock_guard guard(mutex); }
    { const Region region("m", "empty"); }
    const auto rows = region_rows();
    EXPECT_EQ(row(rows, "m", "empty").operations(), 1u);
    EXPECT_EQ(row(rows, "m", "empty").log->acquisitions, 0u);
    reset_regions();
}

TEST(Region, TheOuterOneIncludesTheInner) {
    reset_regions();
    elided_mutex mutex;
    {
        const Region outer("m", "outer");
        const Region inner("m", "inner");
        const std::lock_guard guard(mutex);
    }
    const auto rows = region_rows();
    EXPECT_EQ(row(rows, "m", "outer").log->acquisitions, 1u);
    EXPECT_EQ(row(rows, "m", "inner").log->acquisitions, 1u);
    EXPECT_GE(row(rows, "m", "outer").duration_ns, row(rows, "m", "inner").duration_ns);
    reset_regions();
}

TEST(Region, ThreadsAreAddedUpAlsoAfterTheyHaveEnded) {
    reset_regions();
    elided_mutex mutex;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 100; ++j) {
                const Region region("m", "loop");
                const std::lock_guard guard(mutex);
            }
        });
    }
    // Read while they run: what is counted so far is whole passages.
    for (const Measurement& partial : region_rows()) {
        EXPECT_EQ(partial.log->acquisitions, partial.operations());
    }
    for (std::thread& thread : threads) thread.join();
    const auto rows = region_rows();
    EXPECT_EQ(row(rows, "m", "loop").operations(), 300u);
    EXPECT_EQ(row(rows, "m", "loop").threads, 3u);
    EXPECT_EQ(row(rows, "m", "loop").worker_operations,
              (std::vector<std::uint64_t>{100, 100, 100}));
    EXPECT_EQ(row(rows, "m", "loop").log->acquisitions, 300u);
    reset_regions();
}

TEST_F(RegionTest, BreaksAbortsDownByCauseBitAndCode) {
    const native::RtmEmulator emulator(
        {native::abort_at_begin(0x6), native::abort_at_begin(0x7f000003), native::commit()});
    elided_mutex mutex(*find_policy("ck"));
    {
        const Region region("m", "site");
        const std::lock_guard guard(mutex);
    }
    const auto rows = region_rows();
    const Measurement& measured = row(rows, "m", "site");
    EXPECT_EQ(measured.log->attempts, 3u);
    EXPECT_EQ(measured.log->elided, 1u);
    EXPECT_EQ(measured.log->causes[static_cast<std::size_t>(rtm::Cause::conflict)], 1u);
    EXPECT_EQ(measured.log->causes[static_cast<std::size_t>(rtm::Cause::explicit_abort)], 1u);
    EXPECT_EQ(measured.log->explicit_codes[0x7f], 1u);
    EXPECT_EQ(measured.log->bits[1], 2u);
    EXPECT_DOUBLE_EQ(measured.abort_rate().value(), 2.0 / 3);
    EXPECT_EQ(measured.cause_source, Provenance::software);
}

TEST_F(RegionTest, InsideATransactionARegionDoesNothing) {
    const native::RtmEmulator emulator;
    elided_mutex mutex(*find_policy("ck"));
    {
        const std::lock_guard guard(mutex);
        const Region region("m", "inside");
    }
    EXPECT_EQ(emulator.aborts(), 0u);
    EXPECT_TRUE(region_rows().empty());
}

TEST_F(RegionTest, AnRtmLoopOfOnesOwnTellsItsRegion) {
    const native::RtmEmulator emulator({native::abort_at_begin(0x8), native::commit()});
    {
        Region region("own", "loop");
        for (;;) {
            region.attempt();
            const rtm::Status status = native::xbegin();
            if (status.is_started()) {
                native::xend();
                region.committed();
                break;
            }
            region.aborted(status);
        }
    }
    {
        Region region("own", "loop");
        region.fell_back();
    }
    const auto rows = region_rows();
    const AbortLog& log = *row(rows, "own", "loop").log;
    EXPECT_EQ(log.attempts, 2u);
    EXPECT_EQ(log.commits, 1u);
    EXPECT_EQ(log.causes[static_cast<std::size_t>(rtm::Cause::capacity)], 1u);
    EXPECT_EQ(log.fallbacks, 1u);
    EXPECT_EQ(log.longest_fallback_run, 1u);
}

TEST_F(RegionTest, TheLongestRunIsOfPassagesOfThisRegion) {
    for (const bool falls_back : {true, true, false, true}) {
        Region region("own", "run");
        if (falls_back) {
            region.fell_back();
        } else {
            region.attempt();
            region.committed();
        }
    }
    const auto rows = region_rows();
    EXPECT_EQ(row(rows, "own", "run").log->longest_fallback_run, 2u);
    EXPECT_EQ(row(rows, "own", "run").log->fallbacks_after_fallback, 1u);
}

/// Counts the system calls of this thread between two moments, without making one itself: syscall
/// user dispatch (Linux 5.11) turns each into a SIGSYS while the selector says so.
class SystemCallWatch {
  public:
    SystemCallWatch() {
        struct sigaction action {};
        action.sa_sigaction = [](int, siginfo_t*, void*) {
            selector = SYSCALL_DISPATCH_FILTER_ALLOW;
            seen = seen + 1;
        };
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGSYS, &action, &before_);
        selector = SYSCALL_DISPATCH_FILTER_ALLOW;
        seen = 0;
        works_ = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) == 0;
    }
    ~SystemCallWatch() {
        selector = SYSCALL_DISPATCH_FILTER_ALLOW;
        prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
        sigaction(SIGSYS, &before_, nullptr);
    }
    SystemCallWatch(const SystemCallWatch&) = delete;
    SystemCallWatch& operator=(const SystemCallWatch&) = delete;

    bool works() const { return works_; }
    static void start() { selector = SYSCALL_DISPATCH_FILTER_BLOCK; }
    /// Stops with the first system call, which it has kept from being made.
    static bool seen_until_now() {
        selector = SYSCALL_DISPATCH_FILTER_ALLOW;
        return seen != 0;
    }

  private:
    static inline volatile char selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    static inline volatile int seen = 0;
    bool works_ = false;
    struct sigaction before_ {};
};

TEST(Region, NeitherARegionNorAnUncontendedElidedMutexMakesASystemCall) {
    SKIP_UNDER_THREAD_SANITIZER();
    reset_regions();
    elided_mutex mutex;
    const auto passage = [&] {
        const Region region("m", "quiet");
        const std::lock_guard guard(mutex);
    };
    passage();  // the first one allocates
    const SystemCallWatch watch;
    if (!watch.works()) GTEST_SKIP() << "this kernel has no syscall user dispatch";
    SystemCallWatch::start();
    (void)syscall(SYS_getppid);
    ASSERT_TRUE(SystemCallWatch::seen_until_now()) << "the watch itself works";

    const SystemCallWatch second;
    SystemCallWatch::start();
    for (int i = 0; i < 100; ++i) passage();
    EXPECT_FALSE(SystemCallWatch::seen_until_now());
    reset_regions();
}

TEST(RegionCounters, AreAbsentWithTheWayToHaveThem) {
    reset_regions();
    { const Region region("m", "site"); }
    const auto rows = region_rows();
    const Reading& start = row(rows, "m", "site").counters[index_of(Counter::tx_start)];
    EXPECT_FALSE(start.value);
    EXPECT_THAT(start.absent_reason, HasSubstr("count_regions"));
    reset_regions();
}

TEST(RegionCounters, CountWhatHappensInsideAndNotBetween) {
    reset_regions();
    const std::vector<Counter> asked{Counter::page_faults, Counter::tx_start};
    const std::string plan = count_regions(asked);
    if (plan.find("page_faults") == std::string::npos ||
        plan.find("getrusage") != std::string::npos) {
        stop_counting_regions();
        GTEST_SKIP() << plan;
    }
    constexpr std::size_t pages = 64;
    constexpr std::size_t page = 4096;
    const auto touch = [] {
        void* place =
            mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_EQ(madvise(place, pages * page, MADV_NOHUGEPAGE), 0);
        for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(place)[i * page] = 1;
        munmap(place, pages * page);
    };
    { const Region first("m", "warm"); }
    touch();
    {
        const Region outer("m", "outer");
        const Region inner("m", "inner");
        touch();
    }
    touch();
    { const Region last("m", "after"); }
    const auto rows = region_rows();
    const auto faults = [&](std::string_view site) {
        return row(rows, "m", site).counters[index_of(Counter::page_faults)].value.value_or(9'999);
    };
    EXPECT_GE(faults("inner"), pages);
    EXPECT_LT(faults("inner"), 2 * pages);
    EXPECT_GE(faults("outer"), faults("inner"));
    EXPECT_LT(faults("after"), pages);
    const Reading& start = row(rows, "m", "after").counters[index_of(Counter::tx_start)];
    EXPECT_EQ(start.value.has_value(), start.absent_reason.empty());
    stop_counting_regions();
    reset_regions();
}

}  // namespace
}  // namespace abortscope
