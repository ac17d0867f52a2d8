// SPDX-License-Identifier: Apache-2.0
//
// An object, or an array of objects, in a machine's own memory, owned by one handle.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M, class T>
struct MachineDelete {
    std::size_t count = 1;
    void operator()(T* first) const {
        std::destroy_n(first, count);
        M::deallocate(first, count * sizeof(T), alignof(T));
    }
};

template <Machine M, class T>
using Owned = std::unique_ptr<T, MachineDelete<M, T>>;

/// A T in the machine's memory, named for attribution. Throws what T's constructor throws.
template <Machine M, class T, class... Args>
Owned<M, T> make_owned(std::string_view name, Args&&... args) {
    void* place = M::allocate(sizeof(T), alignof(T));
    M::describe(place, sizeof(T), name);
    return Owned<M, T>(::new (place) T(std::forward<Args>(args)...));
}

/// `count` value-initialised Ts in the machine's memory; index the result's get().
template <Machine M, class T>
Owned<M, T> make_owned_array(std::string_view name, std::size_t count) {
    void* place = M::allocate(count * sizeof(T), alignof(T));
    M::describe(place, count * sizeof(T), name);
    T* first = static_cast<T*>(place);
    for (std::size_t i = 0; i < count; ++i) ::new (static_cast<void*>(first + i)) T();
    return Owned<M, T>(first, MachineDelete<M, T>{count});
}

}  // namespace abortscope
