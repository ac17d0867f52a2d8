// SPDX-License-Identifier: Apache-2.0
#include "machines/native/affinity.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>

namespace abortscope::native {
namespace {

TEST(Affinity, AllowedCpusAreAscendingAndHoldTheCurrentOne) {
    const std::vector<unsigned> cpus = allowed_cpus();
    ASSERT_FALSE(cpus.empty());
    EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
    EXPECT_NE(std::find(cpus.begin(), cpus.end(), static_cast<unsigned>(sched_getcpu())),
              cpus.end());
}

TEST(Affinity, APinnedThreadMayUseThatCpuAlone) {
    std::thread([] {
        const unsigned last = allowed_cpus().back();
        pin_thread(pthread_self(), last);
        EXPECT_EQ(allowed_cpus(), std::vector<unsigned>{last});
        EXPECT_EQ(static_cast<unsigned>(sched_getcpu()), last);
    }).join();
}

TEST(Affinity, ACpuThatDoesNotExistIsNamed) {
    for (const unsigned cpu : {1'000u, 100'000u, ~0u}) {
        try {
            pin_thread(pthread_self(), cpu);
            ADD_FAILURE() << "pinned to CPU " << cpu;
        } catch (const std::system_error& error) {
            EXPECT_EQ(error.code().value(), EINVAL);
            EXPECT_NE(std::string(error.what()).find("CPU " + std::to_string(cpu)),
                      std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace abortscope::native
