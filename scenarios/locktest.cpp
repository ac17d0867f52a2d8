// SPDX-License-Identifier: Apache-2.0
//
// The scenario `locktest`: how often a lock is acquired, by whom, in a given time.
//
//   until the time is up:
//     acquire (try_lock, or lock)  ->  `load_ns` of work  ->  release  ->  one operation
//     did not get it               ->  pause
//     `gap_ns` of work
//
// Every lock kind runs it. Of one that readers share, read_pct of the acquisitions are shared.
// Loads are times, not counts of PAUSE, which takes ten cycles on one processor and 140 on another.
//
// operations are acquisitions; worker_ops_min, _mean and _max are the lock's fairness. The rwsem
// read-trylock experiment of 2019 is the default: all readers, try_lock, a load of 35 ns (its load
// of 10 PAUSEs, estimated from its own rates at one thread).
//
// The check: nobody is in beside an exclusive owner, and as many acquisitions are logged as
// counted.
//
// Source: W. Long, "locking/rwsem: Optimize down_read_trylock()", LKML 2019-02, whose locktest is
// a kernel module that was not published with it; built from its description.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machines/random.hpp"
#include "primitives/owned.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/exclusion_check.hpp"
#include "scenarios/lock_choice.hpp"
#include "scenarios/stop_flag.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array<std::string_view, 2> call_words{"try_lock", "lock"};
enum Call : std::int64_t { try_lock, lock };

constexpr std::array parameters{
    duration_parameter(10),
    ParameterSpec{.name = "read_pct",
                  .option = "",
                  .help = "share of acquisitions that are shared, where the lock can",
                  .default_value = 100,
                  .minimum = 0,
                  .maximum = 100},
    ParameterSpec{.name = "call",
                  .option = "",
                  .help = "try_lock, with a pause after a failure, or lock",
                  .maximum = call_words.size() - 1,
                  .words = call_words},
    ParameterSpec{.name = "load_ns",
                  .option = "",
                  .help = "work inside the critical section",
                  .default_value = 35,
                  .minimum = 0,
                  .maximum = 1'000'000'000},
    ParameterSpec{.name = "gap_ns",
                  .option = "",
                  .help = "work between two acquisitions",
                  .default_value = 0,
                  .minimum = 0,
                  .maximum = 1'000'000'000},
    queue_lock_parameters[0],
    queue_lock_parameters[1],
};
constexpr std::array<PhaseSpec, 1> phases{{{"acquisitions", true}}};
constexpr std::array<std::string_view, 11> locks{"rwsem-read-first",
                                                 "rwsem-cas-first",
                                                 "rwsem-handoff",
                                                 "rwlock",
                                                 "fat-rwlock",
                                                 "futex-mutex",
                                                 "tas",
                                                 "ticket",
                                                 "mcs",
                                                 "qspinlock-2013",
                                                 "qspinlock-4.2"};
constexpr std::array<std::string_view, 1> policies{"none"};

template <class M, class Lock>
class Locktest final : public Scenario {
  public:
    Locktest(const TrialSpec& spec, Owned<M, Lock> lock_under_test)
        : seed_(spec.seed),
          duration_ns_(static_cast<std::uint64_t>(spec.value("duration_ms")) * 1'000'000),
          read_pct_(SharedLockable<Lock> ? static_cast<std::uint64_t>(spec.value("read_pct")) : 0),
          tries_(spec.value("call") == try_lock),
          load_cycles_(M::cycles_of_ns(static_cast<std::uint64_t>(spec.value("load_ns")))),
          gap_cycles_(M::cycles_of_ns(static_cast<std::uint64_t>(spec.value("gap_ns")))),
          lock_(std::move(lock_under_test)),
          witnesses_(spec.threads) {}

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        typename StopFlag<M>::Clock clock(*stop_, duration_ns_);
        ExclusionWitness witness;
        Random random(seed_, worker);
        std::uint64_t acquisitions = 0;
        while (clock.runs_on()) {
            if (read_pct_ != 0 && (read_pct_ == 100 || random.below(100) < read_pct_)) {
                acquisitions += shared_section(witness) ? 1 : 0;
            } else {
                acquisitions += exclusive_section(witness) ? 1 : 0;
            }
            if (gap_cycles_ != 0) work<M>(gap_cycles_);
        }
        witnesses_[worker] = witness;
        require_logged(acquisitions);
        return acquisitions;
    }

    void check(std::size_t /*phase*/) override { require_excluded(*exclusion_, witnesses_); }

  private:
    /// Calls of a lock that is made of others log each of those.
    static void require_logged(std::uint64_t acquisitions) {
        constexpr bool is_one_lock = requires(Lock & whole) {
            whole.underlying();
        };
        const std::uint64_t logged = M::log().acquisitions;
        if (is_one_lock ? logged == acquisitions : logged >= acquisitions) return;
        throw CheckFailed("worker " + std::to_string(M::this_worker()) + " counted " +
                          std::to_string(acquisitions) + " acquisitions, its log has " +
                          std::to_string(logged));
    }

    bool exclusive_section(ExclusionWitness& witness) {
        M::site("exclusive");
        if (!tries_) {
            lock_->lock();
        } else if (!lock_->try_lock()) {
            M::pause();
            return false;
        }
        exclusion_->enter_exclusive(witness);
        work<M>(load_cycles_);
        exclusion_->exit_exclusive(witness);
        lock_->unlock();
        return true;
    }

    bool shared_section(ExclusionWitness& witness) {
        if constexpr (SharedLockable<Lock>) {
            M::site("shared");
            if (!tries_) {
                lock_->lock_shared();
            } else if (!lock_->try_lock_shared()) {
                M::pause();
                return false;
            }
            exclusion_->enter_shared(witness);
            work<M>(load_cycles_);
            exclusion_->exit_shared(witness);
            lock_->unlock_shared();
        }
        return true;
    }

    const std::uint64_t seed_;
    const std::uint64_t duration_ns_;
    const std::uint64_t read_pct_;
    const bool tries_;
    const std::uint64_t load_cycles_;
    const std::uint64_t gap_cycles_;
    Owned<M, Lock> lock_;
    Owned<M, StopFlag<M>> stop_ = make_owned<M, StopFlag<M>>("stop flag");
    Owned<M, ExclusionCheck<M>> exclusion_ = make_owned<M, ExclusionCheck<M>>("exclusion check");
    std::vector<ExclusionWitness> witnesses_;  ///< stored after each worker's loop
};

constexpr ScenarioInfo info{
    .name = "locktest",
    .summary = "how often any lock is acquired in a given time, and how fairly",
    .source = "W. Long, locking/rwsem: Optimize down_read_trylock(), LKML 2019-02",
    .parameters = parameters,
    .phases = phases,
    .locks = locks,
    .default_policies = policies,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_lock<M, Locktest>(
            spec, spec.lock, []<class Lock>() { return true; }, queue_lock_options(spec));
    }
};

}  // namespace

ScenarioEntry locktest_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
