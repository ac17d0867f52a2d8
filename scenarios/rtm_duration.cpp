// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-duration`: transactions that do nothing but take time.
//
// A timer interrupt ends a transaction with status 0, so the longer one runs, the likelier it
// aborts: 1 - exp(-rate * duration). Even a transaction of one line has this floor.
#include <array>
#include <cstdint>
#include <span>

#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    transactions_parameter(200),
    ParameterSpec{.name = "duration_cycles",
                  .option = "",
                  .help = "work in each transaction",
                  .default_value = 3'000'000,
                  .minimum = 0,
                  .maximum = 10'000'000'000},
};

template <class M>
class DurationWorkload {
  public:
    explicit DurationWorkload(const TrialSpec& spec)
        : duration_cycles_(static_cast<std::uint64_t>(spec.value("duration_cycles"))) {}

    void start(unsigned /*worker*/) {}
    void prepare(unsigned /*worker*/) {}
    void inside(unsigned /*worker*/) const { work<M>(duration_cycles_); }
    void check(std::span<const std::uint64_t> /*commits*/) const {}

  private:
    const std::uint64_t duration_cycles_;
};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::other,
     .words = "split each transaction into {}",
     .changes = {{{.parameter = "duration_cycles", .kind = ParameterChange::Kind::divide},
                  {.parameter = "transactions", .kind = ParameterChange::Kind::multiply}}},
     .factors = split_factors,
     .splits_operations = true},
}};

constexpr ScenarioInfo info{
    .name = "rtm-duration",
    .summary = "long transactions that touch nothing, ended by interrupts: cause other",
    .source = "Intel SDM vol. 1, 16.3.8.2; Goel et al., IPDPS 2014",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
    .remedies = remedies,
};

}  // namespace

ScenarioEntry rtm_duration_entry() {
    return entry_of<BareTransactionsMaker<DurationWorkload>>(info);
}

}  // namespace abortscope
