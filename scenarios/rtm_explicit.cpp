// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-explicit`: XABORT with a code of your choice ends each transaction.
//
// The code comes back in bits 31..24 of the status. 0xff means "the lock was busy" by convention
// and is counted as the cause lock_busy, every other code as explicit.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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
              std::make_index_sequence<256>{})[static_cast<std::size_t>(spec.value("code"))]) {}

    void start(unsigned /*worker*/) {}
    void prepare(unsigned /*worker*/) {}
    void inside(unsigned /*worker*/) const { abort_(); }

    void check(std::span<const std::uint64_t> commits) const {
        for (const std::uint64_t count : commits) {
            if (count != 0) throw CheckFailed("a transaction committed after its XABORT");
        }
    }

  private:
    void (*const abort_)();
};

constexpr ScenarioInfo info{
    .name = "rtm-explicit",
    .summary = "XABORT in each transaction: cause explicit, or lock_busy for code 255",
    .source = "Intel SDM vol. 1, 16.3.5; vol. 2, XABORT",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
};

}  // namespace

ScenarioEntry rtm_explicit_entry() {
    return entry_of<BareTransactionsMaker<ExplicitWorkload>>(info);
}

}  // namespace abortscope
