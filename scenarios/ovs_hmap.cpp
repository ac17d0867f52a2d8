// SPDX-License-Identifier: Apache-2.0
#include "scenarios/ovs_hmap.hpp"

#include <array>
#include <memory>
#include <string_view>

#include "primitives/elided_lock.hpp"
#include "primitives/fat_rwlock.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/rw_lock.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    elements_parameter,
    mutation_parameter,
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
constexpr std::array<std::string_view, 2> locks{"fat-rwlock", "rwlock"};
constexpr std::array<std::string_view, 2> policies{"none", "ovs2016"};

constexpr ScenarioInfo info{
    .name = "ovs-hmap",
    .summary = "searches and removals in a chained hash map under a reader-writer lock",
    .source = "Open vSwitch lock elision patch, ovs-dev 2016-02-19; ovstest test-cmap benchmark",
    .parameters = parameters,
    .phases = phases,
    .locks = locks,
    .default_policies = policies,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        const RetryPolicy& policy = *find_policy(spec.policy);
        if (spec.lock == "rwlock") {
            using Lock = ElidedLock<M, RwLock<M>>;
            return std::make_unique<OvsHmap<M, Lock>>(spec, make_owned<M, Lock>("rwlock", policy));
        }
        using Lock = FatRwLock<M, ElidedLock<M, FutexMutex<M>>>;
        return std::make_unique<OvsHmap<M, Lock>>(
            spec, make_owned<M, Lock>("fat-rwlock", spec.threads, policy));
    }
};

}  // namespace

ScenarioEntry ovs_hmap_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
