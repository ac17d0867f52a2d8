// SPDX-License-Identifier: Apache-2.0
//
// A command line run inside the test, with what it wrote.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace abortscope::tests {

struct Ran {
    int status;
    std::string out;
    std::string err;
};

inline Ran run(const std::vector<const char*>& words) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Ran ran;
    ran.status = cli::run_command_line(words);
    ran.out = ::testing::internal::GetCapturedStdout();
    ran.err = ::testing::internal::GetCapturedStderr();
    return ran;
}

}  // namespace abortscope::tests
