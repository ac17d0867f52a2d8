// SPDX-License-Identifier: Apache-2.0
//
// A worker's stack and its saved context, and a copy of both from the last begin().
//
// Switching is Boost.Context's fcontext. A snapshot is setjmp's registers and a copy of the stack,
// from the frame that calls setjmp to the stack's top. A rollback copies the bytes back, and makes
// the worker resume with a longjmp: begin() returns a second time with registers and locals as they
// were, which is what hardware does. It does not matter that functions have returned since, because
// their frames are there again.
//
//   running --switch_to--> suspended
//   running --snapshot--> running, and returns once more after
//   suspended --roll_back--> suspended at the snapshot
//
// The stack is copied back while the fiber is suspended only, from another stack.
// Under AddressSanitizer switches are announced, and a rollback leaves the stack unpoisoned; fake
// stacks must be off (detect_stack_use_after_return=0).
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <csetjmp>
#include <cstddef>
#include <cstdint>

#include "machines/model/grow_buffer.hpp"
#include "machines/model/zeroed_memory.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ABORTSCOPE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ABORTSCOPE_ASAN 1
#endif
#endif

namespace abortscope::model {

class Fiber {
  public:
    using Entry = void (*)(void* argument);

    static constexpr std::size_t default_stack_bytes = 128 * 1024;

    /// The host's own stack, as a place to switch from and back to.
    Fiber() = default;
    /// A fiber that will call entry(argument) when it is first switched to; entry never returns.
    Fiber(Entry entry, void* argument, std::size_t stack_bytes = default_stack_bytes);

    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Suspends `from`, which must be the running fiber, and runs `to`. Both belong to the host
    /// thread that made or restarted them last.
    static void switch_to(Fiber& from, Fiber& to) {
        // Exceptions in flight are rare at a switch; two loads and a branch when there are none.
        ExceptionState& running = *thread_exceptions_;
        if (running.any() || to.exceptions_.any()) [[unlikely]] {
            from.exceptions_ = running;
            running = to.exceptions_;
            to.exceptions_ = {};
        }
        Fiber* pair[2] = {&from, &to};
        announce_switch(to);
        arrive(boost::context::detail::jump_fcontext(to.context_, pair));
    }

    /// Makes a suspended, finished fiber start again with another entry, on the same stack.
    void restart(Entry entry, void* argument);

    /// Of the running fiber, which this is. False: the snapshot has been taken; true, later: the
    /// fiber has been rolled back to it.
    bool snapshot();
    /// Of a suspended fiber.
    void roll_back();

  private:
    void keep_stack();
    static void return_to_snapshot(boost::context::detail::transfer_t transfer);
    static void start(boost::context::detail::transfer_t transfer);
    /// The first thing on a stack that was switched to: keeps where the other side stopped.
    static void arrive(boost::context::detail::transfer_t transfer) {
        Fiber& left = *static_cast<Fiber**>(transfer.data)[0];
        left.context_ = transfer.fctx;
        announce_arrival(left);
    }
    static void announce_switch(const Fiber& to);
    static void announce_arrival(Fiber& left);

    ZeroedMemory stack_;
    char* top_ = nullptr;
    boost::context::detail::fcontext_t context_ = nullptr;
    Entry entry_ = nullptr;
    void* argument_ = nullptr;

    std::jmp_buf saved_registers_;
    GrowBuffer<char> saved_stack_;  ///< its bytes below the top

    // Exceptions in flight belong to a fiber, not to the host thread.
    struct ExceptionState {
        void* caught = nullptr;
        unsigned uncaught = 0;
        bool any() const { return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0; }
    } exceptions_, saved_exceptions_;
    /// Those of the host thread (abi::__cxa_get_globals, whose call a switch is spared).
    static inline constinit thread_local ExceptionState* thread_exceptions_ = nullptr;

    // The bounds that AddressSanitizer is told of; for the host's stack it tells them itself.
    const void* bottom_ = nullptr;
    std::size_t bytes_ = 0;
};

#if !defined(ABORTSCOPE_ASAN)
inline void Fiber::announce_switch(const Fiber&) {}
inline void Fiber::announce_arrival(Fiber&) {}
#endif

}  // namespace abortscope::model
