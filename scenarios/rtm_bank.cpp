// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-bank`: transfers between random accounts under one global lock.
//
// Two transfers conflict only if they meet on an account's line, so elision gains what the lock
// serialises without need: with many accounts almost everything. Each transfer also reads
// `reads_per_transfer` other accounts, which widens the read set, and with it the share of
// conflicts and the time in which they can happen.
//
// The check: the sum of all balances never changes.
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "machines/random.hpp"
#include "primitives/owned.hpp"
#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/lock_choice.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    ParameterSpec{.name = "transfers",
                  .option = "",
                  .help = "transfers by each worker",
                  .default_value = 20'000,
                  .minimum = 1,
                  .maximum = 100'000'000},
    ParameterSpec{.name = "accounts",
                  .option = "",
                  .help = "accounts, each on a line of its own",
                  .default_value = 1024,
                  .minimum = 2,
                  .maximum = 1 << 22},
    ParameterSpec{.name = "reads_per_transfer",
                  .option = "",
                  .help = "other accounts that a transfer reads first",
                  .default_value = 0,
                  .minimum = 0,
                  .maximum = 100'000},
};
constexpr std::array<PhaseSpec, 1> phases{{{"transfers", true}}};
constexpr std::array<std::string_view, 3> policies{"none", "ovs2016", "kleen-wait"};

template <class M, class Lock>
class RtmBank final : public Scenario {
  public:
    RtmBank(const TrialSpec& spec, Owned<M, Lock> lock)
        : seed_(spec.seed),
          transfers_(static_cast<std::uint64_t>(spec.value("transfers"))),
          accounts_count_(static_cast<std::uint64_t>(spec.value("accounts"))),
          reads_(static_cast<std::uint64_t>(spec.value("reads_per_transfer"))),
          lock_(std::move(lock)),
          accounts_(make_owned_array<M, Account>("account", accounts_count_)) {
        for (std::uint64_t i = 0; i < accounts_count_; ++i) accounts_.get()[i].balance = opening;
    }

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        M::site("transfer");
        Random random(seed_, worker);
        for (std::uint64_t i = 0; i < transfers_; ++i) {
            Random readers(random.next());
            const std::uint64_t from = random.below(accounts_count_);
            const std::uint64_t to =
                (from + 1 + random.below(accounts_count_ - 1)) % accounts_count_;
            const std::int64_t amount = static_cast<std::int64_t>(random.below(100));
            lock_->lock();
            for (std::uint64_t k = 0; k < reads_; ++k) {
                keep<std::int64_t>(accounts_.get()[readers.below(accounts_count_)].balance);
            }
            transfer(accounts_.get()[from], accounts_.get()[to], amount);
            lock_->unlock();
        }
        return transfers_;
    }

    void check(std::size_t /*phase*/) override {
        std::int64_t sum = 0;
        for (std::uint64_t i = 0; i < accounts_count_; ++i) sum += accounts_.get()[i].balance;
        if (sum == opening * static_cast<std::int64_t>(accounts_count_)) return;
        throw CheckFailed("the balances sum up to " + std::to_string(sum) + ", not to " +
                          std::to_string(opening * static_cast<std::int64_t>(accounts_count_)));
    }

  private:
    static constexpr std::int64_t opening = 1000;

    struct alignas(64) Account {
        typename M::template Cell<std::int64_t> balance{};
    };

    static void transfer(Account& from, Account& to, std::int64_t amount) {
        const std::int64_t left = from.balance;
        from.balance = left - amount;
        const std::int64_t held = to.balance;
        to.balance = held + amount;
    }

    const std::uint64_t seed_;
    const std::uint64_t transfers_;
    const std::uint64_t accounts_count_;
    const std::uint64_t reads_;
    Owned<M, Lock> lock_;
    Owned<M, Account> accounts_;
};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::conflict,
     .words = "spread the same transfers over {} times as many accounts",
     .changes = {{{.parameter = "accounts", .kind = ParameterChange::Kind::multiply}}},
     .factors = split_factors},
}};

constexpr ScenarioInfo info{
    .name = "rtm-bank",
    .summary = "transfers between accounts under one global lock: conflicts by chance",
    .source = "the bank of the transactional-memory literature, as in TinySTM",
    .parameters = parameters,
    .phases = phases,
    .locks = exclusive_locks,
    .default_policies = policies,
    .remedies = remedies,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_lock<M, RtmBank>(spec, spec.lock, is_exclusive);
    }
};

}  // namespace

ScenarioEntry rtm_bank_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
