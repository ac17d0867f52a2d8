// SPDX-License-Identifier: Apache-2.0
//
// How a phase of fixed length ends: the first worker that sees its time used up tells the others.
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

inline constexpr ParameterSpec duration_parameter(std::int64_t default_value) {
    return {.name = duration_parameter_name,
            .option = "",
            .help = "how long the workers run",
            .default_value = default_value,
            .minimum = 1,
            .maximum = 3'600'000};
}

/// Lives in the machine's memory, on a line that is only read until the end.
template <Machine M>
class alignas(64) StopFlag {
  public:
    /// One worker's clock: it starts when made, and is looked at every `rounds_per_look` rounds, as
    /// reading it takes as long as a short critical section.
    class Clock {
      public:
        Clock(StopFlag& flag, std::uint64_t duration_ns, std::uint64_t rounds_per_look = 16)
            : flag_(flag),
              deadline_ns_(M::now_ns() + duration_ns),
              rounds_per_look_(rounds_per_look) {}

        /// Once a round, outside any transaction.
        bool runs_on() {
            if (++rounds_ % rounds_per_look_ == 0 && M::now_ns() >= deadline_ns_) {
                flag_.stopped_.store(1, std::memory_order_relaxed);
            }
            return flag_.stopped_.load(std::memory_order_relaxed) == 0;
        }

      private:
        StopFlag& flag_;
        const std::uint64_t deadline_ns_;
        const std::uint64_t rounds_per_look_;
        std::uint64_t rounds_ = 0;
    };

  private:
    typename M::template Atomic<std::uint32_t> stopped_{0};
};

}  // namespace abortscope
