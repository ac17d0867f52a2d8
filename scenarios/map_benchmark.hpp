// SPDX-License-Identifier: Apache-2.0
//
// What the two Open vSwitch map scenarios have in common: how often they mutate, and what their
// loop costs beside its memory accesses.
//
// Source: `ovstest test-cmap benchmark N THREADS MUTATION_PCT [BATCH]`, openvswitch
// tests/test-cmap.c (facts; written anew).
#pragma once

#include <cstdint>

#include "machines/random.hpp"
#include "primitives/machine.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

inline constexpr ParameterSpec elements_parameter{
    .name = "n",
    .option = "n",
    .help = "elements in the map",
    .default_value = 200'000,
    .minimum = 1,
    .maximum = 50'000'000,
};

inline constexpr ParameterSpec mutation_parameter{
    .name = "mutation_pct",
    .option = "mutation",
    .help = "percent of searches that remove the key; 0: look-ups without any lock",
    .default_value = 2,
    .minimum = 0,
    .maximum = 100,
};

/// Draws whether the next search mutates: a 32-bit random number below mutation_pct of 2^32.
template <Machine M>
class MutationDraw {
  public:
    MutationDraw(const TrialSpec& spec, unsigned worker)
        : random_(spec.seed, first_stream + worker),
          threshold_((static_cast<std::uint64_t>(spec.value("mutation_pct")) << 32) / 100) {}

    bool next() {
        M::compute(draw_cycles);
        return random_.next32() < threshold_;
    }

  private:
    // Open vSwitch draws from a 32-bit xorshift: six dependent one-cycle operations, and about as
    // many for the call and the address of the thread's state.
    static constexpr std::uint64_t draw_cycles = 12;
    static constexpr std::uint64_t first_stream = 0x100;

    Random random_;
    std::uint64_t threshold_;
};

}  // namespace abortscope
