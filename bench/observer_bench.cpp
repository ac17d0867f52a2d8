// SPDX-License-Identifier: Apache-2.0
//
// What observing costs, all in one run:
//
//  * an uncontended acquire-release of the elided mutex with its statistics against the same mutex
//    bare, round by round in turn, so that both see the same moods of the computer. The target is
//    statistics of at most 1 %. Where RTM does not work this is the plain path; its fast path is
//    the one that every acquisition under `none` takes.
//  * a region around an acquire-release: without counters, with them, and beside a `perf stat` that
//    counts this process from outside.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "abortscope.hpp"
#include "primitives/futex_mutex.hpp"
#include "profiler/command/child.hpp"

namespace abortscope {
namespace {

using native::NativeMachine;
using BareMutex = FutexMutex<NativeMachine>;

constexpr int pairs_per_round = 10'000;

template <class Mutex>
double nanoseconds_per_pair(Mutex& mutex) {
    const std::uint64_t start = NativeMachine::now_ns();
    for (int i = 0; i < pairs_per_round; ++i) {
        mutex.lock();
        benchmark::ClobberMemory();
        mutex.unlock();
        benchmark::ClobberMemory();
    }
    return static_cast<double>(NativeMachine::now_ns() - start) / pairs_per_round;
}

/// Interrupts only ever make a round longer: the lower quartile is the undisturbed cost.
double lower_quartile(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void statistics_of_an_acquire_release(benchmark::State& state) {
    BareMutex bare;
    elided_mutex observed;
    std::vector<double> bare_ns;
    std::vector<double> observed_ns;
    for (auto _ : state) {
        bare_ns.push_back(nanoseconds_per_pair(bare));
        observed_ns.push_back(nanoseconds_per_pair(observed));
    }
    const double without = lower_quartile(std::move(bare_ns));
    const double with = lower_quartile(std::move(observed_ns));
    state.counters["bare_ns"] = without;
    state.counters["with_statistics_ns"] = with;
    state.counters["statistics_pct"] = 100 * (with - without) / without;
    state.counters["elision_active"] = observed.elision_active() ? 1 : 0;
}
BENCHMARK(statistics_of_an_acquire_release)->MinTime(0.5);

void acquire_release_alone(benchmark::State& state) {
    elided_mutex mutex;
    for (auto _ : state) {
        const std::lock_guard guard(mutex);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(acquire_release_alone);

void region_loop(benchmark::State& state) {
    elided_mutex mutex;
    for (auto _ : state) {
        const Region region("mutex", "benchmark");
        const std::lock_guard guard(mutex);
        benchmark::ClobberMemory();
    }
    reset_regions();
}

void region_without_counters(benchmark::State& state) {
    region_loop(state);
}
BENCHMARK(region_without_counters);

void region_with_counters(benchmark::State& state) {
    const std::vector<Counter> asked{Counter::tx_start,      Counter::tx_commit,
                                     Counter::tx_abort,      Counter::tx_conflict,
                                     Counter::task_clock_ns, Counter::context_switches};
    std::string plan = count_regions(asked);
    std::replace(plan.begin(), plan.end(), '\n', ' ');
    state.SetLabel(plan);
    region_loop(state);
    stop_counting_regions();
}
BENCHMARK(region_with_counters);

/// perf stat on this process, from outside, for as long as it lives.
class PerfStat {
  public:
    PerfStat() {
        const std::vector<std::string> command{"perf",      "stat", "-o",
                                               "/dev/null", "-p",   std::to_string(getpid())};
        child_.emplace(command);
        attached_ = child_->release() == 0;
        constexpr std::uint64_t time_to_attach_ns = 300'000'000;
        // It runs until it is killed, unless it could not attach.
        if (attached_) attached_ = !child_->wait(time_to_attach_ns);
    }
    bool attached() const { return attached_; }

  private:
    std::optional<Child> child_;
    bool attached_ = false;
};

void region_beside_perf_stat(benchmark::State& state) {
    const PerfStat perf;
    if (!perf.attached()) {
        state.SkipWithError("perf is not installed, or cannot attach to this process");
        return;
    }
    region_loop(state);
}
BENCHMARK(region_beside_perf_stat);

}  // namespace
}  // namespace abortscope
