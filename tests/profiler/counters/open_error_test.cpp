// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/open_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;
using tests::host;

TEST(OpenError, TheTableHoldsEveryErrnoOfTheManualPageOnce) {
    std::set<int> listed;
    for (const OpenError& row : open_errors()) {
        EXPECT_TRUE(listed.insert(row.number).second) << row.symbol;
        EXPECT_FALSE(row.meaning.empty()) << row.symbol;
    }
    for (const int number : {E2BIG, EACCES, EBADF, EBUSY, EFAULT, EINTR, EINVAL, EMFILE, ENODEV,
                             ENOENT, ENOSPC, ENOSYS, EOPNOTSUPP, EOVERFLOW, EPERM, ESRCH}) {
        EXPECT_EQ(listed.count(number), 1u) << number;
    }
}

TEST(OpenError, EveryErrnoIsOneLineWithItsNameAndSomethingToDo) {
    const HostDescription here = host("sapphire-rapids").description;
    for (const OpenError& row : open_errors()) {
        const std::string line = explain_open_error(row.number, here);
        EXPECT_TRUE(line.starts_with(std::string(row.symbol) + ": ")) << line;
        EXPECT_GT(line.size() - line.find(';'), 10u) << line;
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
    EXPECT_THAT(explain_open_error(ENOTTY, here), HasSubstr("errno 25"));
}

// Acceptance case A10.
TEST(OpenError, RefusedPermissionIsExplainedByTheHostsOwnState) {
    const std::string docker = explain_open_error(EPERM, host("docker-seccomp").description);
    EXPECT_THAT(docker, HasSubstr("perf_event_paranoid is 2"));
    EXPECT_THAT(docker, HasSubstr("CAP_PERFMON is missing"));
    EXPECT_THAT(docker, HasSubstr("a seccomp filter is active"));
    EXPECT_THAT(docker, HasSubstr("--cap-add PERFMON"));

    const std::string paranoid = explain_open_error(EACCES, host("paranoid-3").description);
    EXPECT_THAT(paranoid, HasSubstr("perf_event_paranoid is 3"));
    EXPECT_THAT(paranoid, HasSubstr("sysctl kernel.perf_event_paranoid=1"));

    HostDescription privileged = host("docker-seccomp").description;
    privileged.process.cap_perfmon = true;
    EXPECT_THAT(explain_open_error(EPERM, privileged), HasSubstr("seccomp profile that allows"));
    privileged.process.container = false;
    privileged.process.seccomp = 0;
    EXPECT_THAT(explain_open_error(EPERM, privileged), HasSubstr("security module"));
}

// Acceptance case A9.
TEST(OpenError, AMissingPmuInAVirtualMachineAsksForAVirtualPmu) {
    EXPECT_THAT(explain_open_error(ENOENT, host("vm-without-pmu").description),
                HasSubstr("pmu=on"));
    EXPECT_THAT(explain_open_error(ENOENT, host("sapphire-rapids").description),
                HasSubstr("kernel that knows this CPU"));
}

}  // namespace
}  // namespace abortscope
