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
    ParameterSpec{
        .name = "padded_count",
        .option = "",
        .help = "1: the map's count on a cache line of its own, 0: beside its mask",
        .default_value = 0,
        .minimum = 0,
        .maximum = 1,
    },
};
constexpr std::array<PhaseSpec, 4> phases{{
    {"insert"},
    {"iterate"},
    {"search", true},
    {"destroy"},
}};
constexpr std::array<std::string_view, 2> policies{"none", "ovs2016"};

constexpr ScenarioInfo info{
    .name = "ovs-hmap",
    .summary = "searches and removals in a chained hash map under a reader-writer lock",
    .source = "Open vSwitch lock elision patch, ovs-dev 2016-02-19; ovstest test-cmap benchmark",
    .parameters = parameters,
    .phases = phases,
    .locks = shared_locks,
    .default_policies = policies,
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
