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

#if defined(ABORTSCOPE_ASAN)
char* shadow_of(const char* place) {
    std::size_t scale = 0;
    std::size_t offset = 0;
    __asan_get_shadow_mapping(&scale, &offset);
    return reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(place) >> scale) + offset);
}
std::size_t shadow_bytes(const char* from, const char* to) {
    return static_cast<std::size_t>(shadow_of(to) - shadow_of(from));
}
#endif

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
    snapshot_due_ = false;
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

void Fiber::snapshot() {
    const char* stopped = static_cast<const char*>(context_);
    const auto size = static_cast<std::size_t>(top_ - stopped);
    snapshot_due_ = false;
    saved_context_ = context_;
    saved_exceptions_ = exceptions_;
    saved_stack_.resize(size);
    copy_stack(saved_stack_.data(), stopped, size);
#if defined(ABORTSCOPE_ASAN)
    saved_shadow_.resize(shadow_bytes(stopped, top_));
    copy_stack(saved_shadow_.data(), shadow_of(stopped), saved_shadow_.size());
#endif
}

void Fiber::roll_back() {
    context_ = saved_context_;
    exceptions_ = saved_exceptions_;
    char* stopped = static_cast<char*>(context_);
#if defined(ABORTSCOPE_ASAN)
    __asan_unpoison_memory_region(bottom_, bytes_);
#endif
    copy_stack(stopped, saved_stack_.data(), saved_stack_.size());
#if defined(ABORTSCOPE_ASAN)
    copy_stack(shadow_of(stopped), saved_shadow_.data(), saved_shadow_.size());
#endif
}

}  // namespace abortscope::model
