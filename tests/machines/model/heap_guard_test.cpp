// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>

#include "tests/machines/model/model_fixture.hpp"

namespace abortscope::model {
namespace {

TEST(ModelHeapGuardDeathTest, TheHostsHeapInsideATransactionTrapsInDebugBuilds) {
#if defined(NDEBUG)
    GTEST_SKIP() << "release builds do not check";
#elif defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer has operator new";
#else
    EXPECT_DEATH(
        {
            Bench bench(1);
            bench.run([](unsigned) {
                if (M::begin().is_started()) std::make_unique<int>(1);
            });
        },
        "host's heap was used inside a simulated transaction");
#endif
}

}  // namespace
}  // namespace abortscope::model
