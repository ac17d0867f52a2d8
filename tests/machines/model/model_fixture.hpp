// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the simulated machine share: a team on the default preset, and objects in it.
#pragma once

#include <functional>

#include "machines/model/model_machine.hpp"
#include "machines/model/team.hpp"
#include "primitives/owned.hpp"

namespace abortscope::model {

using M = ModelMachine;

inline const Preset& haswell() {
    return *find_preset("haswell");
}

/// A preset without interrupts, for tests that count aborts exactly.
inline Preset quiet_haswell() {
    Preset preset = haswell();
    preset.timer_hz = 1;
    return preset;
}

inline EngineOptions options(unsigned workers, std::uint64_t seed = 1) {
    EngineOptions result;
    result.workers = workers;
    result.seed = seed;
    result.arena_bytes = std::uint64_t{1} << 30;
    return result;
}

/// A team that is current for the whole test.
struct Bench {
    Team team;
    Engine::Scope scope;

    explicit Bench(unsigned workers, const Preset& preset = haswell(), std::uint64_t seed = 1)
        : Bench(preset, options(workers, seed)) {}
    Bench(const Preset& preset, const EngineOptions& engine_options)
        : team(preset, engine_options), scope(team.engine()) {}

    std::uint64_t run(const std::function<void(unsigned)>& body) {
        return team.run(team.engine().workers(), body);
    }
    EventCounts counts() const { return team.counts(); }
};

/// A line of its own.
template <class T>
struct alignas(64) Line {
    T value{};
};

/// Transactions until one commits. The section runs between begin and commit.
template <class Section>
void retry_for_ever(Section section) {
    for (;;) {
        const rtm::Status status = M::begin();
        if (status.is_started()) {
            section();
            M::commit();
            return;
        }
        M::log().record_abort(status);
    }
}

}  // namespace abortscope::model
