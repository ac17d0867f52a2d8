// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/rtm_verdict.hpp"

#include <fmt/format.h>

namespace abortscope {
namespace {

constexpr const char* use_the_model =
    "measure on the simulated machine (--machine model:haswell), or on a CPU that has RTM";

std::string cpu_name(const CpuFacts& cpu) {
    if (!cpu.brand.empty()) return cpu.brand;
    return cpu.vendor.empty() ? "this processor" : cpu.vendor;
}

/// Why a kernel that could turn RTM on has it off, in the words of its own settings.
std::string why_off(const KernelFacts& kernel) {
    if (kernel.tsx_option) return fmt::format("its boot line says tsx={}", *kernel.tsx_option);
    if (kernel.tsx_default) {
        return fmt::format("it was built with tsx={} as its default", *kernel.tsx_default);
    }
    return "tsx=off is the default of most kernels before 7.0";
}

/// What tsx=on means for TSX Asynchronous Abort here, by the kernel's own report.
std::string boot_remedy(const KernelFacts& kernel) {
    const std::string taa = kernel.tsx_async_abort.value_or("");
    if (taa == "Not affected") {
        return "boot with tsx=on (or tsx=auto): this CPU is not affected by TSX Asynchronous Abort";
    }
    if (taa.empty()) return "boot with tsx=on; see tsx_async_abort.rst for what that exposes";
    return "boot with tsx=on: this CPU is affected by TSX Asynchronous Abort, so keep "
           "tsx_async_abort=full (buffers are cleared on each return to user mode)";
}

/// CPUID shows RTM, but nothing committed.
RtmVerdict advertised_in_vain(const native::RtmProbe& probe) {
    if (probe.attempts == 0) {
        return {RtmState::never_commits, "CPUID advertises RTM; no transaction was tried",
                "run doctor on that computer itself"};
    }
    if (!probe.executes) {
        return {RtmState::does_not_execute,
                "CPUID advertises RTM, but XBEGIN is an illegal instruction here",
                "an emulator or hypervisor shows a CPU that it does not implement: give the guest "
                "a CPU without RTM"};
    }
    return {RtmState::never_commits,
            fmt::format("CPUID advertises RTM, but {} of {} empty transactions aborted, the last "
                        "with status {:#x}",
                        probe.attempts - probe.commits, probe.attempts, probe.last_status),
            "RTM is forced off at run time: look at tsx= on the host's boot line, "
            "allow_tsx_force_abort, and whether this is an emulator"};
}

RtmVerdict by_history(const HostDescription& host) {
    const CpuFacts& cpu = host.cpu;
    const std::string name = cpu_name(cpu);
    if (cpu.known == nullptr) {
        return {RtmState::not_advertised,
                fmt::format("CPUID does not advertise RTM on {} (family {}, model {:#x})", name,
                            cpu.family, cpu.model),
                use_the_model};
    }
    const std::string_view title = cpu.microarch->title;
    switch (cpu.known->rtm) {
        case RtmHistory::never:
            return {RtmState::no_rtm, fmt::format("{} ({}) has no TSX", name, title),
                    use_the_model};
        case RtmHistory::fused_off:
            return {RtmState::no_rtm,
                    fmt::format("{} ({}) was sold without usable TSX", name, title), use_the_model};
        case RtmHistory::broken:
            return {RtmState::removed_by_microcode,
                    fmt::format("microcode of 2014 and later removes TSX from {} ({}), whose TSX "
                                "is broken",
                                name, title),
                    use_the_model};
        case RtmHistory::forced_to_abort:
            return {
                RtmState::removed_by_microcode,
                fmt::format("microcode of 2021 and later removes TSX from {} ({})", name, title),
                use_the_model};
        case RtmHistory::boot_option:
        case RtmHistory::always_on:
            break;
    }
    if (cpu.hypervisor) {
        return {RtmState::hidden_by_hypervisor,
                fmt::format("{} ({}) can, but this virtual machine ({}) does not show RTM", name,
                            title, cpu.hypervisor_signature),
                "boot the host with tsx=on and give the guest a CPU with RTM (QEMU: -cpu host, no "
                "-noTSX model), or measure on the host"};
    }
    if (cpu.known->rtm == RtmHistory::boot_option) {
        return {RtmState::turned_off_by_kernel,
                fmt::format("{} ({}) can, but the kernel turned RTM off: {}", name, title,
                            why_off(host.kernel)),
                boot_remedy(host.kernel)};
    }
    return {RtmState::not_advertised,
            fmt::format("{} ({}) should have RTM, but CPUID does not advertise it", name, title),
            "look for a TSX setting in the firmware; tsx= has no effect on this CPU"};
}

}  // namespace

RtmVerdict judge_rtm(const HostDescription& host, const native::RtmProbe& probe) {
    const CpuFacts& cpu = host.cpu;
    if (probe.commits_work()) return {RtmState::works, {}, {}};
    if (cpu.rtm_always_abort) {
        return {RtmState::always_aborts,
                "the microcode makes every transaction abort (CPUID RTM_ALWAYS_ABORT)",
                std::string("no change to the program will help; ") + use_the_model};
    }
    if (cpu.rtm) return advertised_in_vain(probe);
    if (cpu.vendor.empty()) {
        return {RtmState::no_rtm, "RTM is an x86 feature and this is no x86 processor",
                use_the_model};
    }
    if (cpu.vendor != "GenuineIntel") {
        return {RtmState::no_rtm,
                fmt::format("{} ({}) has no RTM: only Intel made CPUs with it", cpu_name(cpu),
                            cpu.vendor),
                use_the_model};
    }
    return by_history(host);
}

}  // namespace abortscope
