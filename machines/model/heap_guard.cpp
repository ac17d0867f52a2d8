// SPDX-License-Identifier: Apache-2.0
#include "machines/model/heap_guard.hpp"

#if !defined(NDEBUG)

#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "machines/model/engine.hpp"

namespace abortscope::model {
namespace {

constinit thread_local int allowed = 0;

void trap_in_transaction() {
    const Engine* engine = Engine::current();
    if (allowed != 0 || engine == nullptr || !engine->in_transaction()) return;
    constexpr std::string_view message =
        "abortscope: the host's heap was used inside a simulated transaction; it is not rolled "
        "back, use M::allocate\n";
    (void)!write(STDERR_FILENO, message.data(), message.size());
    std::abort();
}

}  // namespace

HostHeapAllowed::HostHeapAllowed() {
    ++allowed;
}
HostHeapAllowed::~HostHeapAllowed() {
    --allowed;
}

}  // namespace abortscope::model

#if !defined(__SANITIZE_ADDRESS__)

void* operator new(std::size_t size) {
    abortscope::model::trap_in_transaction();
    void* place = std::malloc(size == 0 ? 1 : size);
    if (place == nullptr) throw std::bad_alloc();
    return place;
}
void operator delete(void* place) noexcept {
    if (place != nullptr) abortscope::model::trap_in_transaction();
    std::free(place);
}
void operator delete(void* place, std::size_t) noexcept {
    operator delete(place);
}

#endif
#endif
