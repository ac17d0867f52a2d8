// SPDX-License-Identifier: Apache-2.0
#include "studies/why/deployment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace abortscope {
namespace {

struct LibraryRow {
    std::string_view policy;
    std::string_view how;
};

/// The policies that a library has ready-made.
constexpr LibraryRow libraries[] = {
    {"ck",
     "concurrencykit: CK_ELIDE_LOCK_ADAPTIVE with struct ck_elide_config config = "
     "CK_ELIDE_CONFIG_DEFAULT_INITIALIZER"},
    {"tbb", "a code change: oneTBB's tbb::speculative_spin_mutex in the place of the lock"},
    {"dpdk", "a code change: DPDK's rte_spinlock_lock_tm in the place of the lock"},
};

}  // namespace

bool glibc_can_express(const RetryPolicy& policy) {
    if (!policy.elides) return true;
    const ClassRule& first = policy.classes.front();
    const bool plain_loop =
        std::all_of(policy.classes.begin(), policy.classes.end(), [&](const ClassRule& rule) {
            return rule.heeds_hint && !rule.waits_until_free && !rule.backs_off &&
                   rule.max_attempts >= policy.max_attempts && rule.skip == first.skip;
        });
    return plain_loop && policy.no_retry_budget == 0 && !policy.waits_before_begin &&
           !policy.skips_when_exhausted;
}

std::string how_to_deploy(const RetryPolicy& policy) {
    if (!policy.elides) return "GLIBC_TUNABLES=glibc.elision.enable=0";
    if (glibc_can_express(policy)) {
        const unsigned skip = policy.classes.front().skip;
        return fmt::format(
            "GLIBC_TUNABLES=glibc.elision.enable=1:glibc.elision.tries={}"
            ":glibc.elision.skip_lock_busy={}:glibc.elision.skip_lock_internal_abort={}",
            policy.max_attempts, skip, skip);
    }
    const auto row =
        std::find_if(std::begin(libraries), std::end(libraries),
                     [&](const LibraryRow& each) { return each.policy == policy.name; });
    if (row != std::end(libraries)) return std::string(row->how);
    return "a code change: glibc's tunables cannot say it; abortscope's elided_mutex.hpp has it";
}

}  // namespace abortscope
