// SPDX-License-Identifier: Apache-2.0
#include "studies/why/deployment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace abortscope {
namespace {

using testing::HasSubstr;

TEST(Deployment, GlibcsTunablesSayWhatGlibcDoes) {
    EXPECT_EQ(how_to_deploy(*find_policy("glibc")),
              "GLIBC_TUNABLES=glibc.elision.enable=1:glibc.elision.tries=3"
              ":glibc.elision.skip_lock_busy=3:glibc.elision.skip_lock_internal_abort=3");
    EXPECT_EQ(how_to_deploy(no_elision), "GLIBC_TUNABLES=glibc.elision.enable=0");
    RetryPolicy more = *find_policy("glibc");
    more.max_attempts = 8;
    EXPECT_THAT(how_to_deploy(more), HasSubstr("glibc.elision.tries=8"));
}

TEST(Deployment, WhatGlibcCannotSayIsALibrarysLockOrACodeChange) {
    for (const char* name : {"ovs2016", "kleen-wait", "kernel-adapt", "ck", "tbb", "dpdk"}) {
        EXPECT_FALSE(glibc_can_express(*find_policy(name))) << name;
    }
    EXPECT_THAT(how_to_deploy(*find_policy("ck")), HasSubstr("CK_ELIDE_LOCK_ADAPTIVE"));
    EXPECT_THAT(how_to_deploy(*find_policy("kleen-wait")), HasSubstr("a code change"));
    EXPECT_THAT(how_to_deploy(*find_policy("tbb")), HasSubstr("speculative_spin_mutex"));
}

}  // namespace
}  // namespace abortscope
