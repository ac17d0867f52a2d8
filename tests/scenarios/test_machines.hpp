// SPDX-License-Identifier: Apache-2.0
//
// The machines that the tests of the scenarios run on.
#pragma once

#include <gtest/gtest.h>

#include "machines/native/native_machine.hpp"

namespace abortscope {

using TestMachines = ::testing::Types<native::NativeMachine>;

}  // namespace abortscope
