// SPDX-License-Identifier: Apache-2.0
#include "machines/model/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstring>
#include <new>

#if defined(ABORTSCOPE_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ABORTSCOPE_UNSANITIZED __attribute__((no_sanitize("address"), noinline))
#else
#define ABORTSCOPE_UNSANITIZED
#endif

namespace abortscope::model {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t page_bytes = 4096;

// A byte copy that no sanitizer checks: the live stack has poisoned gaps between its objects.
ABORTSCOPE_UNSANITIZED void copy_stack(char* to, const char* from, std::size_t size) {
#if defined(ABORTSCOPE_ASAN)
    // volatile keeps the compiler from turning the loop into a (checked) memcpy
    volatile char* target = to;
    const volatile char* source = from;
    for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
#else
    std::memcpy(to, from, size);
#endif
}

}  // namespace

Fiber::Fiber(Entry entry, void* argument, std::size_t stack_bytes)
    : stack_(stack_bytes + page_bytes) {
    char* lowest = static_cast<char*>(stack_.get());
    if (mprotect(lowest, page_bytes, PROT_NONE) != 0) throw std::bad_alloc();
    top_ = lowest + stack_.size();
    bottom_ = lowest + page_bytes;
    bytes_ = stack_bytes;
    restart(entry, argument);
}

void Fiber::restart(Entry entry, void* argument) {
    entry_ = entry;
    argument_ = argument;
    exceptions_ = {};
    thread_exceptions_ = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
#if defined(ABORTSCOPE_ASAN)
    __asan_unpoison_memory_region(bottom_, bytes_);
#endif
    context_ = context::make_fcontext(top_, bytes_, &Fiber::start);
}

void Fiber::start(context::transfer_t transfer) {
    Fiber** pair = static_cast<Fiber**>(transfer.data);
    Fiber* self = pair[1];
    arrive(transfer);
    self->entry_(self->argument_);
    std::abort();  // an entry that returns has nowhere to go
}

#if defined(ABORTSCOPE_ASAN)
void Fiber::announce_switch(const Fiber& to) {
    __sanitizer_start_switch_fiber(nullptr, to.bottom_, to.bytes_);
}

void Fiber::announce_arrival(Fiber& left) {
    const void* left_bottom = nullptr;
    std::size_t left_bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &left_bottom, &left_bytes);
    if (left.top_ == nullptr) {
        left.bottom_ = left_bottom;
        left.bytes_ = left_bytes;
    }
}
#endif

bool Fiber::snapshot() {
    if (_setjmp(saved_registers_) != 0) return true;
    keep_stack();
    return false;
}

/// Copies everything above its own frame.
[[gnu::noinline]] void Fiber::keep_stack() {
    const char* from = static_cast<const char*>(__builtin_frame_address(0));
    saved_exceptions_ = *thread_exceptions_;
    saved_stack_.resize(static_cast<std::size_t>(top_ - from));
    copy_stack(saved_stack_.data(), from, saved_stack_.size());
}

void Fiber::roll_back() {
    exceptions_ = saved_exceptions_;
    char* lowest = top_ - saved_stack_.size();
#if defined(ABORTSCOPE_ASAN)
    __asan_unpoison_memory_region(bottom_, bytes_);
#endif
    copy_stack(lowest, saved_stack_.data(), saved_stack_.size());
    context_ = context::make_fcontext(
        lowest, static_cast<std::size_t>(lowest - static_cast<const char*>(bottom_)),
        &Fiber::return_to_snapshot);
}

void Fiber::return_to_snapshot(context::transfer_t transfer) {
    Fiber* self = static_cast<Fiber**>(transfer.data)[1];
    arrive(transfer);
    std::longjmp(self->saved_registers_, 1);
}

}  // namespace abortscope::model
