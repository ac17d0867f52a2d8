// SPDX-License-Identifier: Apache-2.0
//
// Whether RTM works on a host, and if not, why, and what to do about it.
//
//   probe committed              -> works
//   RTM_ALWAYS_ABORT             -> always_aborts         acceptance case A2
//   advertised, SIGILL           -> does_not_execute                      A8
//   advertised, no commit        -> never_commits                         A1
//   no CPUID, or not Intel       -> no_rtm
//   by the model's history       -> no_rtm, removed_by_microcode,
//     hidden by a hypervisor     -> hidden_by_hypervisor
//     else                       -> turned_off_by_kernel (A1), not_advertised
//
// The first row that applies decides.
#pragma once

#include <cstdint>
#include <string>

#include "machines/native/rtm_probe.hpp"
#include "profiler/host/host_description.hpp"

namespace abortscope {

enum class RtmState : std::uint8_t {
    works,
    no_rtm,                ///< this CPU never had it, or was sold without
    always_aborts,         ///< microcode aborts every transaction
    does_not_execute,      ///< advertised, but XBEGIN is an illegal instruction
    never_commits,         ///< advertised and executes, but no transaction committed
    hidden_by_hypervisor,  ///< the CPU model has it, the virtual machine does not show it
    removed_by_microcode,
    turned_off_by_kernel,
    not_advertised,  ///< for none of these reasons
};

struct RtmVerdict {
    RtmState state = RtmState::not_advertised;
    std::string reason;  ///< one line; empty where RTM works
    std::string remedy;  ///< one line; empty where RTM works

    bool works() const { return state == RtmState::works; }
};

RtmVerdict judge_rtm(const HostDescription& host, const native::RtmProbe& probe);

}  // namespace abortscope
