// SPDX-License-Identifier: Apache-2.0
//
// How a scenario that is a template over its lock becomes one of a trial's lock and policy.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "primitives/lock_registry.hpp"
#include "profiler/errors.hpp"
#include "profiler/scenario.hpp"
#include "scenarios/guests.hpp"

namespace abortscope {

/// The kinds that exclude everybody, elided as a whole. A scenario lists its own default first.
inline constexpr std::array<std::string_view, 6> exclusive_locks{
    "futex-mutex", "tas", "ticket", "mcs", "qspinlock-2013", "qspinlock-4.2"};

/// The kinds that readers share.
inline constexpr std::array<std::string_view, 5> shared_locks{
    "fat-rwlock", "rwlock", "rwsem-read-first", "rwsem-cas-first", "rwsem-handoff"};

/// For scenarios about the queue spinlocks themselves; other kinds ignore them.
inline constexpr std::array<ParameterSpec, 2> queue_lock_parameters{{
    {.name = "spin_threshold",
     .option = "",
     .help = "qspinlock-2013: tries before a waiter enters the queue",
     .default_value = 0,
     .minimum = 0,
     .maximum = 1'000'000},
    {.name = "max_nodes",
     .option = "",
     .help = "queue spinlocks: waiting nodes for each worker; 0: nobody ever queues",
     .default_value = 4,
     .minimum = 0,
     .maximum = 4},
}};

inline LockOptions queue_lock_options(const TrialSpec& spec) {
    return {.workers = spec.threads,
            .spin_threshold = static_cast<std::uint32_t>(spec.value("spin_threshold")),
            .max_nodes = static_cast<unsigned>(spec.value("max_nodes"))};
}

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

/// Makes locks of a trial's kind and policy, for scenarios that have several.
template <Machine M, class Kind>
class LockSource {
  public:
    using Lock = typename Kind::Lock;

    explicit LockSource(const TrialSpec& spec)
        : policy_(find_policy(spec.policy)), options_(queue_lock_options(spec)) {}

    Owned<M, Lock> make(std::string_view object) const {
        return Kind::make(object, *policy_, options_);
    }

  private:
    const RetryPolicy* policy_;
    LockOptions options_;
};

/// S<M, LockSource<M, Kind>>(spec, source) for an exclusive kind, once for each of the guests.
template <Machine M, template <class, class> class S>
std::unique_ptr<Scenario> make_on_spinlocks(const TrialSpec& spec) {
    return visit_lock<M>(spec.lock, [&]<class Kind>(Kind) -> std::unique_ptr<Scenario> {
        if constexpr (SharedLockable<typename Kind::Lock>) {
            throw UsageError(std::string(spec.scenario->name) + " does not run on lock " +
                             spec.lock);
        } else {
            using Source = LockSource<M, Kind>;
            return std::make_unique<Guests>(
                spec, [&] { return std::make_unique<S<M, Source>>(spec, Source(spec)); });
        }
    });
}

/// The queue spinlock thread's own comparison first: the kernel's ticket lock is its base.
inline constexpr std::array<std::string_view, 6> spinlocks{
    "ticket", "qspinlock-2013", "qspinlock-4.2", "mcs", "tas", "futex-mutex"};

/// For `Accepts`: what the two lists above say of a type.
inline constexpr auto is_shared = []<class Lock>() { return SharedLockable<Lock>; };
inline constexpr auto is_exclusive = []<class Lock>() { return !SharedLockable<Lock>; };

}  // namespace abortscope
