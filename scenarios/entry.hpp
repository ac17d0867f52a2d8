// SPDX-License-Identifier: Apache-2.0
//
// How a scenario's file makes its row of the registry: one template, both machines.
#pragma once

#include <memory>

#include "machines/model/model_machine.hpp"
#include "machines/native/native_machine.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

/// `Maker::make<M>(spec)` builds the scenario of one trial on machine M.
template <class Maker>
ScenarioEntry entry_of(const ScenarioInfo& info) {
    return {&info,
            [](const TrialSpec& spec) -> std::unique_ptr<Scenario> {
                return Maker::template make<native::NativeMachine>(spec);
            },
            [](const TrialSpec& spec) -> std::unique_ptr<Scenario> {
                return Maker::template make<model::ModelMachine>(spec);
            }};
}

}  // namespace abortscope
