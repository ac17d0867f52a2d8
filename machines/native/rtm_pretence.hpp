// SPDX-License-Identifier: Apache-2.0
//
// For tests alone: other answers to "does RTM work here?", under emulators that execute XBEGIN
// though their CPUID denies RTM (Valgrind, qemu-user 7.2), and under the tests' own emulation.
// Before other threads ask.
#pragma once

#include <optional>

#include "machines/native/rtm_probe.hpp"

namespace abortscope::native {

/// rtm_cpuid() gives this instead of the CPU's own word; nothing: the CPU's word again. The probe
/// that a process has made already is not made again.
void pretend_rtm_cpuid(std::optional<RtmCpuid> cpuid);

/// rtm_commits() gives this instead of the probe's answer; nothing: the probe's answer again.
void pretend_rtm_commits(std::optional<bool> commits);

}  // namespace abortscope::native
