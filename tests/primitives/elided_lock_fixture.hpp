// SPDX-License-Identifier: Apache-2.0
//
// Elided locks on the machine whose aborts are scripted; misuses are counted, not printed.
#pragma once

#include <gtest/gtest.h>

#include "primitives/elided_lock.hpp"
#include "primitives/fat_rwlock.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/rw_lock.hpp"
#include "tests/primitives/scripted_machine.hpp"

namespace abortscope::testing {

using Scripted = ScriptedMachine;
using Mutex = ElidedLock<Scripted, FutexMutex<Scripted>>;
using ReaderWriter = ElidedLock<Scripted, RwLock<Scripted>>;
using Fat = FatRwLock<Scripted, Mutex>;

inline const RetryPolicy& ovs2016 = *find_policy("ovs2016");

inline unsigned reported_misuses = 0;

class ElidedLockTest : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_UNDER_THREAD_SANITIZER();
        Scripted::reset();
        reported_misuses = 0;
        previous_ = set_misuse_handler([](const void*) { ++reported_misuses; });
    }
    void TearDown() override {
        if (previous_ != nullptr) set_misuse_handler(previous_);
    }

    static AbortLog& log() { return Scripted::script().log; }

  private:
    MisuseHandler previous_ = nullptr;
};

}  // namespace abortscope::testing
