// SPDX-License-Identifier: Apache-2.0
//
// The scenario `lemming`: what one real acquisition does to all who elide the same lock.
//
// Critical sections touch only data of their worker, so that nothing but the lock makes them
// conflict. Every `real_every`-th acquisition of a worker is real, as if a system call had forced
// it: it writes the lock's word and aborts everybody. A policy that probes a busy lock without
// waiting then takes the lock for real as well, which aborts the next ones: they all run over the
// cliff. One that waits until the lock is free goes back to eliding.
//
// The forced acquisitions are not counted, so every fallback of a row is a consequence, and
// fallback_after_fallback_rate says how well one leads to the next.
//
// The check: each worker's counter holds the number of its sections, and a counter that all share
// under forced acquisitions the number of those.
//
// Source: A. Kleen, TSX anti-patterns in lock elision code (2014); Afek, Levy and Morrison,
// Software-improved hardware lock elision, PODC 2014, who measure it.
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "primitives/owned.hpp"
#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/lock_choice.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    ParameterSpec{.name = "sections",
                  .option = "",
                  .help = "critical sections of each worker",
                  .default_value = 10'000,
                  .minimum = 1,
                  .maximum = 100'000'000},
    ParameterSpec{.name = "real_every",
                  .option = "",
                  .help = "every so many of a worker's acquisitions, one is real; 0: none",
                  .default_value = 1000,
                  .minimum = 0,
                  .maximum = 100'000'000},
    ParameterSpec{.name = "section_cycles",
                  .option = "",
                  .help = "work inside the critical section; a busy lock must outlast the probes",
                  .default_value = 4000,
                  .minimum = 0,
                  .maximum = 1'000'000},
    ParameterSpec{.name = "gap_cycles",
                  .option = "",
                  .help = "work between two critical sections",
                  .default_value = 200,
                  .minimum = 0,
                  .maximum = 1'000'000},
};
constexpr std::array<PhaseSpec, 1> phases{{{"sections", true}}};
constexpr std::array<std::string_view, 3> policies{"none", "ovs2016", "kleen-wait"};

template <class M, class Lock>
class Lemming final : public Scenario {
  public:
    Lemming(const TrialSpec& spec, Owned<M, Lock> lock)
        : threads_(spec.threads),
          sections_(static_cast<std::uint64_t>(spec.value("sections"))),
          real_every_(static_cast<std::uint64_t>(spec.value("real_every"))),
          section_cycles_(static_cast<std::uint64_t>(spec.value("section_cycles"))),
          gap_cycles_(static_cast<std::uint64_t>(spec.value("gap_cycles"))),
          lock_(std::move(lock)),
          counters_(make_owned_array<M, Counter>("counter", spec.threads + 1)) {}

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        for (std::uint64_t i = 1; i <= sections_; ++i) {
            if (real_every_ != 0 && i % real_every_ == 0) {
                M::site("forced acquisition");
                M::lock_step(LockStep::waits, &lock_->underlying());
                lock_->underlying().lock();
                M::lock_step(LockStep::takes, &lock_->underlying());
                add_one(counters_.get()[threads_]);
                section(worker);
                M::lock_step(LockStep::releases, &lock_->underlying());
                lock_->underlying().unlock();
            } else {
                M::site("elided section");
                lock_->lock();
                section(worker);
                lock_->unlock();
            }
            work<M>(gap_cycles_);
        }
        return sections_;
    }

    void check(std::size_t /*phase*/) override {
        for (unsigned worker = 0; worker < threads_; ++worker) {
            require_sum(counters_.get()[worker].value, sections_);
        }
        const std::uint64_t forced = real_every_ == 0 ? 0 : sections_ / real_every_;
        require_sum(counters_.get()[threads_].value, forced * threads_);
    }

  private:
    struct alignas(128) Counter {
        typename M::template Cell<std::uint64_t> value{};
    };

    void section(unsigned worker) {
        add_one(counters_.get()[worker]);
        work<M>(section_cycles_);
    }

    static void add_one(Counter& counter) {
        const std::uint64_t before = counter.value;
        counter.value = before + 1;
    }

    const unsigned threads_;
    const std::uint64_t sections_;
    const std::uint64_t real_every_;
    const std::uint64_t section_cycles_;
    const std::uint64_t gap_cycles_;
    Owned<M, Lock> lock_;
    Owned<M, Counter> counters_;  ///< one a worker, and one for the forced acquisitions of all
};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::lock_busy,
     .words = "take out what forces real acquisitions, such as a system call inside",
     .changes = {{{.parameter = "real_every", .value = 0}}}},
}};

constexpr ScenarioInfo info{
    .name = "lemming",
    .summary = "one real acquisition in many: does everybody follow it into the lock?",
    .source = "A. Kleen, TSX anti-patterns in lock elision code, 2014",
    .parameters = parameters,
    .phases = phases,
    .locks = exclusive_locks,
    .default_policies = policies,
    .remedies = remedies,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_lock<M, Lemming>(spec, spec.lock, is_exclusive);
    }
};

}  // namespace

ScenarioEntry lemming_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
