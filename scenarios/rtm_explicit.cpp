// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-explicit`: XABORT with a code of your choice ends each transaction, or each
// `abort_every`-th.
//
// The code comes back in bits 31..24 of the status. 0xff means "the lock was busy" by convention
// and is counted as the cause lock_busy, every other code as explicit.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    transactions_parameter(1000),
    ParameterSpec{.name = "code",
                  .option = "",
                  .help = "operand of XABORT; 255: cause lock_busy",
                  .default_value = 1,
                  .minimum = 0,
                  .maximum = 255},
    ParameterSpec{.name = "abort_every",
                  .option = "",
                  .help = "every so many of a worker's transactions, one executes XABORT; 0: none",
                  .default_value = 1,
                  .minimum = 0,
                  .maximum = 100'000'000},
};

/// XABORT takes its code as an immediate: one function each.
template <class M, std::size_t... Codes>
constexpr auto abort_functions(std::index_sequence<Codes...>) {
    return std::array<void (*)(), sizeof...(Codes)>{
        +[] { M::template abort<static_cast<std::uint8_t>(Codes)>(); }...};
}

template <class M>
class ExplicitWorkload {
  public:
    explicit ExplicitWorkload(const TrialSpec& spec)
        : abort_(abort_functions<M>(
              std::make_index_sequence<256>{})[static_cast<std::size_t>(spec.value("code"))]),
          abort_every_(static_cast<std::uint64_t>(spec.value("abort_every"))),
          workers_(spec.threads) {}

    void start(unsigned /*worker*/) {}
    void prepare(unsigned worker) {
        Worker& own = workers_[worker];
        own.aborts = abort_every_ != 0 && ++own.transactions % abort_every_ == 0;
        if (!own.aborts) ++own.may_commit;
    }
    void inside(unsigned worker) const {
        if (workers_[worker].aborts) abort_();
    }

    void check(std::span<const std::uint64_t> commits) const {
        for (std::size_t worker = 0; worker < commits.size(); ++worker) {
            if (commits[worker] > workers_[worker].may_commit) {
                throw CheckFailed("a transaction committed after its XABORT");
            }
        }
    }

  private:
    /// Written between transactions only.
    struct alignas(128) Worker {
        std::uint64_t transactions = 0;
        std::uint64_t may_commit = 0;
        bool aborts = false;  ///< the transaction that comes next
    };

    void (*const abort_)();
    const std::uint64_t abort_every_;
    std::vector<Worker> workers_;
};

constexpr std::array<Remedy, 2> remedies{{
    {.cause = rtm::Cause::explicit_abort,
     .words = "take the XABORT out: decide before the transaction begins",
     .changes = {{{.parameter = "abort_every", .value = 0}}}},
    {.cause = rtm::Cause::lock_busy,
     .words = "take the XABORT out: decide before the transaction begins",
     .changes = {{{.parameter = "abort_every", .value = 0}}}},
}};

constexpr ScenarioInfo info{
    .name = "rtm-explicit",
    .summary = "XABORT in each transaction: cause explicit, or lock_busy for code 255",
    .source = "Intel SDM vol. 1, 16.3.5; vol. 2, XABORT",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
    .remedies = remedies,
};

}  // namespace

ScenarioEntry rtm_explicit_entry() {
    return entry_of<BareTransactionsMaker<ExplicitWorkload>>(info);
}

}  // namespace abortscope
