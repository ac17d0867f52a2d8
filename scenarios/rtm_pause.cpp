// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-pause`: the PAUSE instruction inside each transaction.
//
// PAUSE always aborts, with status 0. A spin loop inside a critical section is enough: waiting for
// another lock under an elided one never works.
#include <array>
#include <cstdint>
#include <span>

#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    transactions_parameter(1000),
    ParameterSpec{.name = "pauses",
                  .option = "",
                  .help = "PAUSE instructions in each transaction",
                  .default_value = 1,
                  .minimum = 0,
                  .maximum = 10'000},
};

template <class M>
class PauseWorkload {
  public:
    explicit PauseWorkload(const TrialSpec& spec) : pauses_(spec.value("pauses")) {}

    void start(unsigned /*worker*/) {}
    void prepare(unsigned /*worker*/) {}
    void inside(unsigned /*worker*/) const {
        for (std::int64_t i = 0; i < pauses_; ++i) M::pause();
    }
    void check(std::span<const std::uint64_t> /*commits*/) const {}

  private:
    const std::int64_t pauses_;
};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::other,
     .words = "do not spin inside: wait before the transaction begins",
     .changes = {{{.parameter = "pauses", .value = 0}}}},
}};

constexpr ScenarioInfo info{
    .name = "rtm-pause",
    .summary = "PAUSE inside each transaction: cause other (status 0)",
    .source = "Intel SDM vol. 1, 16.3.8.1",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
    .remedies = remedies,
};

}  // namespace

ScenarioEntry rtm_pause_entry() {
    return entry_of<BareTransactionsMaker<PauseWorkload>>(info);
}

}  // namespace abortscope
