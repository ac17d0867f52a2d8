// SPDX-License-Identifier: Apache-2.0
#include "scenarios/ovs_hmap.hpp"

#include <array>
#include <memory>
#include <string_view>

#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/lock_choice.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    mutation_parameter,
    elements_parameter,
    padded_count_parameter,
};
constexpr std::array<PhaseSpec, 4> phases{{
    {"insert"},
    {"iterate"},
    {"search", true},
    {"destroy"},
}};
constexpr std::array<std::string_view, 2> policies{"none", "ovs2016"};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::conflict,
     .words = "give the map's count a cache line of its own",
     .changes = {{{.parameter = "padded_count", .value = 1}}}},
}};

constexpr ScenarioInfo info{
    .name = "ovs-hmap",
    .summary = "searches and removals in a chained hash map under a reader-writer lock",
    .source = "Open vSwitch lock elision patch, ovs-dev 2016-02-19; ovstest test-cmap benchmark",
    .parameters = parameters,
    .phases = phases,
    .locks = shared_locks,
    .default_policies = policies,
    .remedies = remedies,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_lock<M, OvsHmap>(spec, spec.lock, is_shared);
    }
};

}  // namespace

ScenarioEntry ovs_hmap_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
