// SPDX-License-Identifier: Apache-2.0
//
// The workers of one trial on the simulated machine.
#pragma once

#include <cstdint>
#include <functional>

#include "machines/model/engine.hpp"

namespace abortscope::model {

class Team {
  public:
    Team(const Preset& preset, const EngineOptions& options) : engine_(preset, options) {}

    /// Runs body(worker) on workers 0..count-1 and returns how long it took in ns of virtual time.
    /// Throws Deadlock, or the first worker's exception; the team is of no further use then.
    std::uint64_t run(unsigned count, const std::function<void(unsigned)>& body) {
        const Engine::Scope scope(engine_);
        return engine_.preset().ns_of_cycles(engine_.run(count, body));
    }

    /// Call it between phases.
    AbortLog& log(unsigned worker) { return engine_.log(worker); }
    EventCounts counts() const { return engine_.counts(); }

    /// To build, check and destroy a workload on the host, make the engine current:
    /// `const Engine::Scope scope(team.engine());`
    Engine& engine() { return engine_; }

  private:
    Engine engine_;
};

}  // namespace abortscope::model
