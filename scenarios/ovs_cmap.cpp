// SPDX-License-Identifier: Apache-2.0
#include "scenarios/ovs_cmap.hpp"

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
        .name = "batch",
        .option = "batch",
        .help = "keys in one batched look-up; 0: no batched phases",
        .default_value = 1,
        .minimum = 0,
        .maximum = 64,
    },
    padded_count_parameter,
};
constexpr std::array<PhaseSpec, 8> phases{{
    {"batch_insert"},
    {"batch_iterate"},
    {"batch_search", true},
    {"batch_destroy"},
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
    .name = "ovs-cmap",
    .summary = "lock-free look-ups in a cuckoo map beside removals under one mutex",
    .source = "Open vSwitch lock elision patch, ovs-dev 2016-02-19; ovstest test-cmap benchmark",
    .parameters = parameters,
    .phases = phases,
    .locks = exclusive_locks,
    .default_policies = policies,
    .remedies = remedies,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_lock<M, OvsCmap>(spec, spec.lock, is_exclusive);
    }
};

}  // namespace

ScenarioEntry ovs_cmap_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
