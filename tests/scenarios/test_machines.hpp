// SPDX-License-Identifier: Apache-2.0
//
// The machines that the tests of the scenarios run on.
#pragma once

#include <gtest/gtest.h>

#include "machines/model/model_machine.hpp"
#include "machines/model/team.hpp"
#include "machines/native/native_machine.hpp"

namespace abortscope {

using TestMachines = ::testing::Types<native::NativeMachine, model::ModelMachine>;

/// Makes a machine usable on the test's own thread, outside any phase.
template <class M>
struct MachineScope {};

template <>
struct MachineScope<model::ModelMachine> {
    model::Team team{*model::find_preset("haswell"), {.arena_bytes = std::uint64_t{1} << 30}};
    model::Engine::Scope scope{team.engine()};
};

}  // namespace abortscope
