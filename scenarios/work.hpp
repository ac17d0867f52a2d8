// SPDX-License-Identifier: Apache-2.0
//
// Work that takes its time on both machines, and that a transaction tolerates.
//
// M::compute charges the model for instructions that native really executes, and is nothing there.
// `work` stands for the instructions themselves: a chain of dependent multiplications, of 3 cycles
// each on Intel processors since Nehalem and on AMD's Zen (Agner Fog, instruction tables). No
// memory access, no PAUSE, no system call, so that nothing but time passes.
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"

namespace abortscope {

template <Machine M>
void work(std::uint64_t cycles) {
    M::compute(cycles);
    if constexpr (requires { M::multiply_chain(cycles); }) M::multiply_chain(cycles / 3);
}

/// A load whose value nobody needs, and which the compiler may not drop.
template <class T>
inline void keep(T value) {
    asm volatile("" ::"r"(value));
}

}  // namespace abortscope
