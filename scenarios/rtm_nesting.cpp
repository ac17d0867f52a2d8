// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-nesting`: transactions within transactions.
//
// Nesting is flat: all levels commit with the outermost one and abort to it. Processors count at
// most 7 levels; one more aborts with the nested bit and no other. An elided lock taken inside
// another's section is a level (a fat reader-writer lock's writer takes one for each worker).
//
// The check: the word that every innermost level raises holds as many as were committed.
#include <array>
#include <cstdint>
#include <numeric>
#include <span>

#include "primitives/owned.hpp"
#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    transactions_parameter(1000),
    ParameterSpec{.name = "depth",
                  .option = "",
                  .help = "levels of nesting, the outermost one counted",
                  .default_value = 8,
                  .minimum = 1,
                  .maximum = 64},
};

template <class M>
class NestingWorkload {
  public:
    explicit NestingWorkload(const TrialSpec& spec)
        : depth_(static_cast<unsigned>(spec.value("depth"))),
          counters_(make_owned_array<M, Counter>("counter", spec.threads)) {}

    void start(unsigned worker) { counters_.get()[worker].value = 0; }
    void prepare(unsigned /*worker*/) {}

    void inside(unsigned worker) {
        // An abort returns from the outermost begin, so an inner one's status needs no look.
        for (unsigned level = 1; level < depth_; ++level) (void)M::begin(nullptr);
        auto& value = counters_.get()[worker].value;
        const std::uint64_t before = value;
        value = before + 1;
        for (unsigned level = 1; level < depth_; ++level) M::commit();
    }

    void check(std::span<const std::uint64_t> commits) const {
        for (unsigned worker = 0; worker < commits.size(); ++worker) {
            require_sum(counters_.get()[worker].value, commits[worker]);
        }
    }

  private:
    struct alignas(128) Counter {
        typename M::template Cell<std::uint64_t> value{};
    };

    const unsigned depth_;
    Owned<M, Counter> counters_;
};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::nested,
     .words = "nest no deeper than 7 levels",
     .changes = {{{.parameter = "depth", .value = 7}}}},
}};

constexpr ScenarioInfo info{
    .name = "rtm-nesting",
    .summary = "nested transactions; beyond 7 levels: cause nested",
    .source = "Intel SDM vol. 1, 16.3.2; Intel intrinsics guide, XBEGIN (MAX_RTM_NEST_COUNT)",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
    .remedies = remedies,
};

}  // namespace

ScenarioEntry rtm_nesting_entry() {
    return entry_of<BareTransactionsMaker<NestingWorkload>>(info);
}

}  // namespace abortscope
