// SPDX-License-Identifier: Apache-2.0
//
// The Machine concept: what an algorithm may ask of the computer that it runs on.
//
// A lock is written once, as a template over a Machine `M`, and never asks which one it is on:
//
//     template <Machine M>
//     class TestAndSetSpinlock {
//         typename M::template Atomic<std::uint32_t> word_{0};
//       public:
//         void lock() {
//             while (word_.exchange(1, std::memory_order_acquire) != 0) {
//                 M::spin_until(word_, [](std::uint32_t word) { return word == 0; });
//             }
//         }
//         void unlock() { word_.store(0, std::memory_order_release); }
//     };
//
// On `native` every member inlines to the bare instruction; on `model` each is a step of the
// simulated machine. Rules that both machines rely on:
//
//  * What several workers see is an `Atomic` or a `Cell`, and lives in memory from `allocate`
//    (on the model that is the arena; an access elsewhere is an error).
//  * Where the order of two accesses matters they stand in two statements: compilers evaluate
//    operands in different orders, and the model would give different bytes.
//  * A worker keeps its own state on its stack or in that memory, never in a lambda's captures, a
//    static or a thread_local: an abort would not roll it back.
//  * Nothing in a transaction uses the host's heap; `allocate` and `deallocate` are undone.
//
// Prior art for the shape: folly's Atom<T> template parameter and DeterministicAtomic.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "primitives/abort_log.hpp"
#include "primitives/rtm_status.hpp"

namespace abortscope {

/// System calls that a workload can make. Inside a transaction each aborts it with status 0.
enum class SystemCall : std::uint8_t {
    null,  ///< the cheapest there is (getppid)
    map,   ///< map and unmap a page
    io,    ///< write a few bytes to a sink
};

/// Why a futex wait returned.
enum class FutexResult : std::uint8_t {
    woken,          ///< by futex_wake; or spuriously: the caller tests its condition again
    value_changed,  ///< the word did not hold the expected value (EAGAIN)
    interrupted,    ///< by a signal (EINTR)
    timed_out,
};

/// What a worker does to a lock that it does not elide, as a lock tells its machine.
enum class LockStep : std::uint8_t {
    waits,     ///< from here on, until it takes the lock, gives up or begins a transaction
    takes,     ///< has it from here on
    gives_up,  ///< does not wait any more
    releases,  ///< is about to unlock it
};

/// No time limit, for `futex_wait`.
inline constexpr std::uint64_t forever_ns = ~std::uint64_t{0};
/// No bound on pauses, for `spin_until`.
inline constexpr std::uint32_t unbounded = ~std::uint32_t{0};

template <class M>
concept Machine = requires(typename M::template Atomic<std::uint32_t>& word,
                           typename M::template Cell<std::uint64_t>& cell, std::uint64_t cycles,
                           void* address, std::size_t size, std::string_view name) {
    // Data. Atomic<T>: std::atomic<T>'s interface and memory orders, T of 1, 2, 4 or 8 bytes.
    // Cell<T>: plain shared data; converts to T, is assigned from T, has the compound assignments;
    // is never copied (read it into a T).
    { word.load(std::memory_order_acquire) } -> std::same_as<std::uint32_t>;
    { static_cast<std::uint64_t>(cell) };
    { cell = cycles };
    { M::fence(std::memory_order_seq_cst) };

    // Transactions. `begin(lock)` returns started(), and a second time, with the abort status, for
    // every abort; `lock` only labels the attempt for attribution. Nesting is flat: an abort
    // returns from the outermost begin. abort<code>() outside a transaction does nothing. commit()
    // outside a transaction is a caller's bug (#GP on hardware).
    { M::rtm_available() } -> std::same_as<bool>;
    { M::begin(static_cast<const void*>(address)) } -> std::same_as<rtm::Status>;
    { M::commit() };
    { M::template abort<0xff>() };
    { M::in_transaction() } -> std::same_as<bool>;

    // Time. pause() is the PAUSE instruction: it aborts a transaction. compute() is work between
    // memory accesses, in cycles: nothing on native, time on the model. now_ns() never goes back.
    { M::pause() };
    { M::compute(cycles) };
    { M::now_ns() } -> std::same_as<std::uint64_t>;
    { M::sleep_for_ns(cycles) };

    // spin_until(atomic, predicate, max_pauses): loads with acquire order and pauses until
    // predicate(value) holds or max_pauses pauses are done; returns the value last loaded. Use it
    // for every spin on one word: the model parks the worker until the line changes, with the same
    // result to the cycle.
    { M::spin_until(word, [](std::uint32_t) { return true; }) } -> std::same_as<std::uint32_t>;
    {
        M::spin_until(word, [](std::uint32_t) { return true; }, std::uint32_t{1})
    } -> std::same_as<std::uint32_t>;

    // The kernel. futex_wait compares and sleeps in one step; futex_wake returns how many it woke,
    // first come first.
    { M::futex_wait(word, std::uint32_t{0}, cycles) } -> std::same_as<FutexResult>;
    { M::futex_wake(word, std::uint32_t{1}) } -> std::same_as<std::uint32_t>;
    { M::yield() };
    { M::system_call(SystemCall::null) };

    // Memory, transactional on both machines; never null, std::bad_alloc on exhaustion. `describe`
    // names a range for attribution ("hmap.n"), `site` what the worker does from here on (a string
    // literal), and `lock_step` what it does to a lock; all do nothing on native.
    { M::allocate(size, size) } -> std::same_as<void*>;
    { M::deallocate(address, size, size) };
    { M::describe(static_cast<const void*>(address), size, name) };
    { M::site("search") };
    { M::lock_step(LockStep::takes, static_cast<const void*>(address)) };

    // The worker that asks: its number from 0 (0 also outside any worker) and its log.
    { M::this_worker() } -> std::same_as<unsigned>;
    { M::log() } -> std::same_as<AbortLog&>;
};

}  // namespace abortscope
