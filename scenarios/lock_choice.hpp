// SPDX-License-Identifier: Apache-2.0
//
// How a scenario that is a template over its lock becomes one of a trial's lock and policy.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "primitives/lock_registry.hpp"
#include "profiler/errors.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

/// The kinds that exclude everybody, elided as a whole. A scenario lists its own default first.
inline constexpr std::array<std::string_view, 6> exclusive_locks{
    "futex-mutex", "tas", "ticket", "mcs", "qspinlock-2013", "qspinlock-4.2"};

/// The kinds that readers share.
inline constexpr std::array<std::string_view, 5> shared_locks{
    "fat-rwlock", "rwlock", "rwsem-read-first", "rwsem-cas-first", "rwsem-handoff"};

/// S<M, Lock>(spec, lock) with a lock of the kind that `spec` names; `object` names it in reports.
/// `Accepts` says of a lock type whether S can do with it.
template <Machine M, template <class, class> class S, class Accepts>
std::unique_ptr<Scenario> make_on_lock(const TrialSpec& spec, std::string_view object,
                                       Accepts accepts, LockOptions options = {}) {
    options.workers = spec.threads;
    return visit_lock<M>(spec.lock, [&]<class Kind>(Kind) -> std::unique_ptr<Scenario> {
        using Lock = typename Kind::Lock;
        if constexpr (accepts.template operator()<Lock>()) {
            return std::make_unique<S<M, Lock>>(
                spec, Kind::make(object, *find_policy(spec.policy), options));
        } else {
            throw UsageError(std::string(spec.scenario->name) + " does not run on lock " +
                             spec.lock);
        }
    });
}

/// For `Accepts`: what the two lists above say of a type.
inline constexpr auto is_shared = []<class Lock>() { return SharedLockable<Lock>; };
inline constexpr auto is_exclusive = []<class Lock>() { return !SharedLockable<Lock>; };

}  // namespace abortscope
