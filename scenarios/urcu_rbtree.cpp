// SPDX-License-Identifier: Apache-2.0
//
// The scenario `urcu-rbtree`: writers that change a red-black tree and hand every replaced node to
// call_rcu, whose worker must be woken.
//
//   worker              | does
//   --------------------+----------------------------------------------------------------------
//   writers, the rest   | an update: under the mutex insert 6 elements with random keys, each in a
//                       | read section; under the mutex again, remove these keys (each removal and
//                       | rotation is a call_rcu)
//   `readers`           | search a random key in a read section
//   `call_rcu_workers`  | run callbacks after grace periods, woken as `form` says
//
// operations are updates, so that operations_per_s is the score; readers and call_rcu workers count
// none. With --cpus 1 the call_rcu worker shares the writer's CPU, which is how the thread pinned
// it.
//
// The checks: the tree keeps its order, colours and heights and is empty at the end; a reader never
// sees a value that does not belong to its key; every callback that was queued has been run.
//
// Source: the call_rcu thread on lttng-dev, 2011-06 (liburcu 263e3cf and its successors); its
// rbtree test had 0 readers, 1 writer and keys below 2048.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machines/random.hpp"
#include "primitives/call_rcu.hpp"
#include "primitives/owned.hpp"
#include "primitives/rcu.hpp"
#include "primitives/rcu_rbtree.hpp"
#include "primitives/wake_up_event.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/exclusion_check.hpp"
#include "scenarios/lock_choice.hpp"
#include "scenarios/stop_flag.hpp"

namespace abortscope {
namespace {

constexpr auto form_words = [] {
    std::array<std::string_view, wake_up_forms.size()> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = wake_up_forms[i].name;
    return words;
}();

constexpr std::int64_t index_of_form(std::string_view name) {
    for (std::size_t i = 0; i < form_words.size(); ++i) {
        if (form_words[i] == name) return static_cast<std::int64_t>(i);
    }
    return -1;
}

constexpr std::array parameters{
    duration_parameter(100),
    ParameterSpec{.name = "form",
                  .option = "",
                  .help = "how call_rcu wakes its worker, in the order in which liburcu had them",
                  .default_value = index_of_form("futex"),
                  .minimum = 0,
                  .maximum = form_words.size() - 1,
                  .words = form_words},
    ParameterSpec{.name = "readers",
                  .option = "",
                  .help = "workers that search",
                  .default_value = 0,
                  .minimum = 0,
                  .maximum = 4096},
    ParameterSpec{.name = "call_rcu_workers",
                  .option = "",
                  .help = "workers that run callbacks, each from a queue of its own",
                  .default_value = 1,
                  .minimum = 1,
                  .maximum = 4096},
    ParameterSpec{.name = "batch_delay_us",
                  .option = "",
                  .help = "how long a call_rcu worker lets callbacks gather",
                  .default_value = 10'000,
                  .minimum = 0,
                  .maximum = 10'000'000},
    ParameterSpec{.name = "keys",
                  .option = "",
                  .help = "keys are below this",
                  .default_value = 2048,
                  .minimum = 1,
                  .maximum = 1 << 30},
};
constexpr std::array<PhaseSpec, 1> phases{{{"updates", true}}};
constexpr std::array<std::string_view, 1> policies{"none"};

constexpr std::size_t keys_per_update = 6;

template <class M, class Lock>
class UrcuRbtree final : public Scenario {
  public:
    UrcuRbtree(const TrialSpec& spec, Owned<M, Lock> mutex)
        : seed_(spec.seed),
          duration_ns_(static_cast<std::uint64_t>(spec.value("duration_ms")) * 1'000'000),
          keys_(static_cast<std::uint64_t>(spec.value("keys"))),
          readers_(static_cast<unsigned>(spec.value("readers"))),
          call_rcu_workers_(static_cast<unsigned>(spec.value("call_rcu_workers"))),
          writers_(writers_of(spec)),
          mutex_(std::move(mutex)),
          domain_(make_owned<M, RcuDomain<M>>("rcu", spec.threads)),
          call_rcu_(make_owned<M, CallRcu<M>>(
              "call_rcu", *domain_, spec.threads,
              wake_up_forms[static_cast<std::size_t>(spec.value("form"))], call_rcu_workers_,
              static_cast<std::uint64_t>(spec.value("batch_delay_us")) * 1000)),
          tree_(make_owned<M, Tree>("rbtree", *call_rcu_)),
          running_writers_(make_owned<M, Running>("running writers")),
          witnesses_(spec.threads) {
        running_writers_->count.store(writers_);
    }

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        if (worker < writers_) return update(worker);
        if (worker < writers_ + readers_) {
            search(worker);
        } else {
            call_rcu_->run_worker(worker - writers_ - readers_);
        }
        return 0;
    }

    void check(std::size_t /*phase*/) override {
        require_excluded(*exclusion_, witnesses_);
        const auto size = tree_->checked_size();
        if (!size) throw CheckFailed("the tree has lost its order, its colours or its heights");
        if (*size != 0) {
            throw CheckFailed(std::to_string(*size) + " elements are left in the tree");
        }
        std::uint64_t queued = 0;
        std::uint64_t run = 0;
        for (unsigned worker = 0; worker < writers_; ++worker) {
            queued += call_rcu_->producer_counters(worker).calls;
        }
        for (unsigned queue = 0; queue < call_rcu_workers_; ++queue) {
            run += call_rcu_->queue_counters(queue).callbacks;
        }
        if (queued != run) {
            throw CheckFailed("of " + std::to_string(queued) + " callbacks " + std::to_string(run) +
                              " were run");
        }
    }

  private:
    using Tree = RcuRbTree<M>;
    struct alignas(64) Running {
        typename M::template Atomic<std::uint32_t> count{0};
    };

    static unsigned writers_of(const TrialSpec& spec) {
        const std::int64_t others = spec.value("readers") + spec.value("call_rcu_workers");
        if (spec.threads > others) return spec.threads - static_cast<unsigned>(others);
        throw UsageError("urcu-rbtree: of " + std::to_string(spec.threads) + " threads " +
                         std::to_string(others) +
                         " are readers and call_rcu workers, which leaves no writer");
    }

    static std::uint64_t value_of(std::uint64_t key) { return ~key; }

    std::uint64_t update(unsigned worker) {
        typename StopFlag<M>::Clock clock(*stop_, duration_ns_, 1);
        Random random(seed_, worker);
        ExclusionWitness witness;
        std::uint64_t updates = 0;
        while (clock.runs_on()) {
            std::array<std::uint64_t, keys_per_update> keys{};
            for (std::uint64_t& key : keys) key = random.below(keys_);
            section(witness, keys, [this](std::uint64_t key) {
                domain_->read_lock();
                tree_->insert(key, value_of(key));
                domain_->read_unlock();
                return true;
            });
            const bool found_all =
                section(witness, keys, [this](std::uint64_t key) { return tree_->remove(key); });
            if (!found_all) throw CheckFailed("a key that was inserted is not in the tree");
            ++updates;
        }
        witnesses_[worker] = witness;
        if (running_writers_->count.fetch_sub(1) == 1) call_rcu_->stop();
        return updates;
    }

    template <class Change>
    bool section(ExclusionWitness& witness, const std::array<std::uint64_t, keys_per_update>& keys,
                 Change change) {
        bool all = true;
        mutex_->lock();
        exclusion_->enter_exclusive(witness);
        for (const std::uint64_t key : keys) all &= change(key);
        exclusion_->exit_exclusive(witness);
        mutex_->unlock();
        return all;
    }

    void search(unsigned worker) {
        typename StopFlag<M>::Clock clock(*stop_, duration_ns_);
        Random random(seed_, worker);
        while (clock.runs_on()) {
            const std::uint64_t key = random.below(keys_);
            domain_->read_lock();
            const auto value = tree_->find(key);
            domain_->read_unlock();
            if (value && *value != value_of(key)) {
                throw CheckFailed("a reader found another key's value: its node was reused");
            }
        }
    }

    const std::uint64_t seed_;
    const std::uint64_t duration_ns_;
    const std::uint64_t keys_;
    const unsigned readers_;
    const unsigned call_rcu_workers_;
    const unsigned writers_;
    Owned<M, Lock> mutex_;
    Owned<M, ExclusionCheck<M>> exclusion_ = make_owned<M, ExclusionCheck<M>>("exclusion check");
    Owned<M, StopFlag<M>> stop_ = make_owned<M, StopFlag<M>>("stop flag");
    Owned<M, RcuDomain<M>> domain_;
    Owned<M, CallRcu<M>> call_rcu_;
    Owned<M, Tree> tree_;
    Owned<M, Running> running_writers_;
    std::vector<ExclusionWitness> witnesses_;  ///< stored after each worker's loop
};

constexpr ScenarioInfo info{
    .name = "urcu-rbtree",
    .summary = "updates of an RCU red-black tree, whose call_rcu worker is woken in eight ways",
    .source = "call_rcu thread, lttng-dev 2011-06 (liburcu 263e3cf)",
    .parameters = parameters,
    .phases = phases,
    .locks = exclusive_locks,
    .default_policies = policies,
    .default_threads = 2,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_lock<M, UrcuRbtree>(spec, spec.lock, is_exclusive);
    }
};

}  // namespace

ScenarioEntry urcu_rbtree_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
