// SPDX-License-Identifier: Apache-2.0
//
// A few workers on the simulated machine, for tests that want to know who came when: the same
// virtual times on every host.
#pragma once

#include <cstdint>
#include <functional>

#include "machines/model/model_machine.hpp"
#include "machines/model/team.hpp"
#include "primitives/owned.hpp"
#include "tests/primitives/thread_sanitizer.hpp"

namespace abortscope::testing {

using Model = model::ModelMachine;

/// The fixture of tests that use it.
class OnTheModel : public ::testing::Test {
  protected:
    void SetUp() override { SKIP_UNDER_THREAD_SANITIZER(); }
};

class ModelTrial {
  public:
    explicit ModelTrial(unsigned workers, std::uint64_t seed = 1, unsigned cpus = 0,
                        std::uint32_t injected_aborts_ppm = 0)
        : workers_(workers),
          team_(*model::find_preset("haswell"), options(workers, seed, cpus, injected_aborts_ppm)),
          scope_(team_.engine()) {}

    /// Runs body(worker) on every worker.
    void run(const std::function<void(unsigned)>& body) { team_.run(workers_, body); }
    const AbortLog& log(unsigned worker) { return team_.log(worker); }
    unsigned workers() const { return workers_; }

  private:
    static model::EngineOptions options(unsigned workers, std::uint64_t seed, unsigned cpus,
                                        std::uint32_t injected_aborts_ppm) {
        model::EngineOptions options;
        options.workers = workers;
        options.seed = seed;
        options.cpus = cpus;
        options.arena_bytes = std::uint64_t{1} << 24;
        options.injected_aborts_ppm = injected_aborts_ppm;
        return options;
    }

    unsigned workers_;
    model::Team team_;
    model::Engine::Scope scope_;
};

/// Sleeps until `ns` of virtual time: orders workers whose starts are staggered by microseconds.
inline void at_ns(std::uint64_t ns) {
    const std::uint64_t now = Model::now_ns();
    if (now < ns) Model::sleep_for_ns(ns - now);
}

}  // namespace abortscope::testing
