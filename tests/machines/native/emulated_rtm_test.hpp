// SPDX-License-Identifier: Apache-2.0
//
// The fixture of tests that run RTM instructions under the emulator.
#pragma once

#include <gtest/gtest.h>

#include "machines/native/rtm_probe.hpp"
#include "tests/machines/native/rtm_emulator.hpp"
#include "tests/primitives/thread_sanitizer.hpp"

namespace abortscope::native {

class EmulatedRtmTest : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_UNDER_THREAD_SANITIZER();
        if (rtm_cpuid().advertised) GTEST_SKIP() << "this CPU has RTM: nothing is emulated";
    }
};

}  // namespace abortscope::native
