// SPDX-License-Identifier: Apache-2.0
//
// The lock kinds by name, and how to instantiate one on a machine, under a policy.
//
//     auto scenario = visit_lock<M>(spec.lock, [&]<class Kind>(Kind) -> std::unique_ptr<Scenario> {
//         return std::make_unique<Demo<M, typename Kind::Lock>>(
//             spec, Kind::make("demo.lock", *policy, {.workers = spec.threads}));
//     });
//
// Kind::Lock has lock, try_lock, unlock and is_free; where its row says `shared`, also the shared
// forms, which can be asked of the type: `requires(Lock& lock) { lock.lock_shared(); }`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "primitives/elided_lock.hpp"
#include "primitives/fat_rwlock.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/mcs_spinlock.hpp"
#include "primitives/owned.hpp"
#include "primitives/qspinlock.hpp"
#include "primitives/qspinlock_rfc.hpp"
#include "primitives/retry_policy.hpp"
#include "primitives/rw_lock.hpp"
#include "primitives/rwsem.hpp"
#include "primitives/rwsem_handoff.hpp"
#include "primitives/tas_spinlock.hpp"
#include "primitives/ticket_spinlock.hpp"

namespace abortscope {

struct LockKind {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    bool shared;  ///< readers share it
    bool fifo;    ///< waiters are served in order
    bool sleeps;  ///< waiters sleep on a futex
};

/// In the order of detail::Kinds.
inline constexpr std::array<LockKind, 11> lock_kinds{{
    {"tas", "test-and-set spinlock", "Anderson 1990", false, false, false},
    {"ticket", "ticket spinlock", "Mellor-Crummey and Scott 1991; Linux 2.6.25-4.1", false, true,
     false},
    {"mcs", "MCS queue spinlock", "Mellor-Crummey and Scott 1991", false, true, false},
    {"qspinlock-2013", "4-byte queue spinlock as first posted", "W. Long, LKML 2013-07", false,
     true, false},
    {"qspinlock-4.2", "queue spinlock with a pending bit", "Linux 4.2-", false, true, false},
    {"futex-mutex", "three-state futex mutex", "Drepper 2011, mutex2", false, false, true},
    {"rwlock", "reader-writer lock on one futex word", "the futex lock of Rust's library, 2022",
     true, false, true},
    {"fat-rwlock", "a mutex for each reader", "Open vSwitch lib/fat-rwlock.c", true, false, true},
    {"rwsem-read-first", "64-bit count semaphore, trylock loads first", "Linux 5.0", true, false,
     true},
    {"rwsem-cas-first", "64-bit count semaphore, trylock CASes first", "W. Long, LKML 2019-02",
     true, false, true},
    {"rwsem-handoff", "flag count semaphore, hand-off after 4 ms", "Linux 5.2-", true, false, true},
}};

/// What the constructors want, beside the policy.
struct LockOptions {
    unsigned workers = 1;              ///< that will use the lock
    std::uint32_t spin_threshold = 0;  ///< qspinlock-2013: tries before the queue
    unsigned max_nodes = 4;            ///< qspinlocks: nodes for each worker
};

namespace detail {

/// A lock that needs nothing of the options.
template <class Plain>
struct FromNothing : Plain {
    explicit FromNothing(const LockOptions&) {}
};

/// A lock that has something for each worker.
template <class PerWorker>
struct FromWorkers : PerWorker {
    explicit FromWorkers(const LockOptions& options) : PerWorker(options.workers) {}
};

template <Machine M>
struct OwnNodes {
    explicit OwnNodes(const LockOptions& options) : nodes(options.workers, options.max_nodes) {}
    QueueNodes<M> nodes;
};

/// A queue spinlock with nodes of its own, which nobody else's waits can use up. The base class
/// comes first, so that the lock's word and the nodes' handle are made in this order.
template <Machine M>
struct FromOwnNodesRfc : private OwnNodes<M>, public QspinlockRfc<M> {
    explicit FromOwnNodesRfc(const LockOptions& options)
        : OwnNodes<M>(options), QspinlockRfc<M>(this->nodes, options.spin_threshold) {}
    const QueueNodes<M>& queue_nodes() const { return this->nodes; }
};
template <Machine M>
struct FromOwnNodes : private OwnNodes<M>, public Qspinlock<M> {
    explicit FromOwnNodes(const LockOptions& options)
        : OwnNodes<M>(options), Qspinlock<M>(this->nodes) {}
    const QueueNodes<M>& queue_nodes() const { return this->nodes; }
};

/// Elides as a whole.
template <Machine M, class Underlying>
struct Elided {
    using Lock = ElidedLock<M, Underlying>;
    static Owned<M, Lock> make(std::string_view object, const RetryPolicy& policy,
                               const LockOptions& options) {
        return make_owned<M, Lock>(object, policy, options);
    }
};

/// Elides each of its mutexes.
template <Machine M>
struct ElidedFat {
    using Lock = FatRwLock<M, ElidedLock<M, FutexMutex<M>>>;
    static Owned<M, Lock> make(std::string_view object, const RetryPolicy& policy,
                               const LockOptions& options) {
        return make_owned<M, Lock>(object, options.workers, policy);
    }
};

template <Machine M>
using Kinds =
    std::tuple<Elided<M, FromNothing<TasSpinlock<M>>>, Elided<M, FromNothing<TicketSpinlock<M>>>,
               Elided<M, FromWorkers<McsSpinlock<M>>>, Elided<M, FromOwnNodesRfc<M>>,
               Elided<M, FromOwnNodes<M>>, Elided<M, FromNothing<FutexMutex<M>>>,
               Elided<M, FromNothing<RwLock<M>>>, ElidedFat<M>,
               Elided<M, FromWorkers<Rwsem<M, ReadTryLock::read_first>>>,
               Elided<M, FromWorkers<Rwsem<M, ReadTryLock::cas_first>>>,
               Elided<M, FromWorkers<RwsemHandoff<M>>>>;

template <Machine M, std::size_t index, class Visitor>
auto visit_lock_from(std::string_view name, Visitor& visitor) {
    static_assert(std::tuple_size_v<Kinds<M>> == lock_kinds.size());
    if constexpr (index + 1 < lock_kinds.size()) {
        if (lock_kinds[index].name != name) return visit_lock_from<M, index + 1>(name, visitor);
    } else if (lock_kinds[index].name != name) {
        throw std::out_of_range("no lock kind " + std::string(name));
    }
    return visitor(std::tuple_element_t<index, Kinds<M>>{});
}

}  // namespace detail

/// The row of that name, or nullptr.
constexpr const LockKind* find_lock_kind(std::string_view name) {
    for (const LockKind& kind : lock_kinds) {
        if (kind.name == name) return &kind;
    }
    return nullptr;
}

/// Calls visitor(Kind{}) with the kind of that name; std::out_of_range if there is none.
template <Machine M, class Visitor>
auto visit_lock(std::string_view name, Visitor&& visitor) {
    return detail::visit_lock_from<M, 0>(name, visitor);
}

}  // namespace abortscope
