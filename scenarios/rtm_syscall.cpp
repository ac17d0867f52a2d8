// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-syscall`: a system call inside each transaction.
//
// A ring transition always aborts, with status 0, and no retry helps. What the call would have done
// has not happened: the output of a printf in an aborted section is lost.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"

namespace abortscope {
namespace {

// In the order of SystemCall.
constexpr std::array<std::string_view, 3> call_words{"null", "map", "io"};

constexpr std::array<std::string_view, 2> place_words{"inside", "before"};
enum Place : std::int64_t { inside_transaction, before_transaction };

constexpr std::array parameters{
    transactions_parameter(1000),
    ParameterSpec{
        .name = "call",
        .option = "",
        .help = "null: the cheapest there is; map: map and unmap a page; io: write a byte",
        .maximum = call_words.size() - 1,
        .words = call_words},
    ParameterSpec{.name = "place",
                  .option = "",
                  .help = "where the call is made: inside the transaction, or before it begins",
                  .maximum = place_words.size() - 1,
                  .words = place_words},
};

template <class M>
class SystemCallWorkload {
  public:
    explicit SystemCallWorkload(const TrialSpec& spec)
        : call_(static_cast<SystemCall>(spec.value("call"))),
          place_(static_cast<Place>(spec.value("place"))) {}

    void start(unsigned /*worker*/) {}
    void prepare(unsigned /*worker*/) const { call_at(before_transaction); }
    void inside(unsigned /*worker*/) const { call_at(inside_transaction); }
    void check(std::span<const std::uint64_t> /*commits*/) const {}

  private:
    void call_at(Place place) const {
        if (place == place_) M::system_call(call_);
    }

    const SystemCall call_;
    const Place place_;
};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::other,
     .words = "make the call before the transaction begins",
     .changes = {{{.parameter = "place", .value = before_transaction}}}},
}};

constexpr ScenarioInfo info{
    .name = "rtm-syscall",
    .summary = "a system call inside each transaction: cause other (status 0)",
    .source = "Intel SDM vol. 1, 16.3.8.1",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
    .remedies = remedies,
};

}  // namespace

ScenarioEntry rtm_syscall_entry() {
    return entry_of<BareTransactionsMaker<SystemCallWorkload>>(info);
}

}  // namespace abortscope
