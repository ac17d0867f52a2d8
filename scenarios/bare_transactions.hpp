// SPDX-License-Identifier: Apache-2.0
//
// The skeleton of the scenarios that isolate one cause of aborts: every worker tries the same kind
// of bare transaction `transactions` times, once each, and goes on whether it commits or not.
//
//   one phase, "transactions"; operations = commits, so abort_rate is the cause's own
//
// A Workload<M> is what a scenario's file adds:
//
//     explicit Workload(const TrialSpec&);
//     void start(unsigned worker);          // once, before the first transaction
//     void prepare(unsigned worker);        // before each transaction, outside
//     void inside(unsigned worker);         // the transaction
//     void check(std::span<const std::uint64_t> commits);   // afterwards; throws CheckFailed
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/scenario.hpp"
#include "scenarios/transaction.hpp"

namespace abortscope {

inline constexpr std::array<PhaseSpec, 1> bare_transaction_phases{{{"transactions", true}}};

template <Machine M, class Workload>
class BareTransactions final : public Scenario {
  public:
    explicit BareTransactions(const TrialSpec& spec)
        : transactions_(static_cast<std::uint64_t>(spec.value("transactions"))),
          commits_(spec.threads),
          workload_((require_rtm<M>(*spec.scenario), spec)) {}

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        std::uint64_t commits = 0;
        workload_.start(worker);
        for (std::uint64_t i = 0; i < transactions_; ++i) {
            workload_.prepare(worker);
            if (attempt<M>([&] { workload_.inside(worker); })) ++commits;
        }
        commits_[worker] = commits;
        return commits;
    }

    void check(std::size_t /*phase*/) override { workload_.check(commits_); }

  private:
    const std::uint64_t transactions_;
    std::vector<std::uint64_t> commits_;  ///< one a worker, written after its loop
    Workload workload_;
};

/// Workloads need names of their own, also in unnamed namespaces: g++ 12 gives templates over such
/// a template external linkage, and the linker would make one of two that are called the same.
template <template <class> class Workload>
struct BareTransactionsMaker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return std::make_unique<BareTransactions<M, Workload<M>>>(spec);
    }
};

/// The sum of a workload's counters must be what its committed transactions have added.
inline void require_sum(std::uint64_t sum, std::uint64_t expected) {
    if (sum == expected) return;
    throw CheckFailed("the counters hold " + std::to_string(sum) +
                      ", committed transactions added " + std::to_string(expected));
}

}  // namespace abortscope
