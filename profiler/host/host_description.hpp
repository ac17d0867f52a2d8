// SPDX-License-Identifier: Apache-2.0
//
// What this computer is, as far as RTM and its counters depend on it: facts only, no judgement.
//
// Everything is read through a root directory and a CPUID source, so a made-up host, or one that a
// user has recorded, is described by the same code as this one:
//
//     proc/cmdline, proc/sys/kernel/{osrelease,perf_event_paranoid,nmi_watchdog},
//     proc/self/{status,environ}, proc/cpuinfo, boot/config-RELEASE,
//     sys/bus/event_source/devices/*, sys/devices/system/cpu/vulnerabilities/tsx_async_abort,
//     sys/devices/system/cpu/cpu0/microcode/version, .dockerenv, run/.containerenv
//
// A file that is missing leaves its fact empty. Nothing here throws for want of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/counters/microarch.hpp"
#include "profiler/host/cpuid.hpp"

namespace abortscope {

struct CpuFacts {
    std::string vendor;  ///< "GenuineIntel"; empty where there is no CPUID
    std::string brand;   ///< "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"
    unsigned family = 0;
    unsigned model = 0;
    unsigned stepping = 0;

    bool hle = false;               ///< CPUID.(7,0):EBX[4]
    bool rtm = false;               ///< CPUID.(7,0):EBX[11]
    bool rtm_always_abort = false;  ///< CPUID.(7,0):EDX[11]
    bool tsx_force_abort = false;   ///< CPUID.(7,0):EDX[13], the MSR of that name exists
    bool hybrid = false;            ///< CPUID.(7,0):EDX[15]
    bool tsxldtrk = false;          ///< CPUID.(7,0):EDX[16]

    bool hypervisor = false;           ///< CPUID.1:ECX[31]
    std::string hypervisor_signature;  ///< "KVMKVMKVM"

    unsigned pmu_version = 0;       ///< CPUID.0AH:EAX[7:0]; 0: no architectural PMU
    unsigned general_counters = 0;  ///< CPUID.0AH:EAX[15:8], per logical processor
    unsigned fixed_counters = 0;    ///< CPUID.0AH:EDX[4:0]

    std::string microcode;            ///< "0x2006e05"
    const CpuModel* known = nullptr;  ///< its row in the model table
    const Microarch* microarch = nullptr;
};

/// A PMU that the kernel offers.
struct PmuFacts {
    std::string name;  ///< "cpu", "cpu_core", "software"
    std::uint32_t type = 0;
    bool format_in_tx = false;
    bool format_in_tx_cp = false;
    std::vector<unsigned> cpus;                 ///< of a hybrid CPU's PMU; empty: all
    std::optional<bool> allow_tsx_force_abort;  ///< exists only on CPUs with that MSR
};

struct KernelFacts {
    std::string release;
    std::optional<std::string> tsx_option;   ///< `tsx=` of the boot line
    std::optional<std::string> tsx_default;  ///< of the kernel's configuration: on, off or auto
    std::optional<std::string> tsx_async_abort;
    std::optional<int> perf_event_paranoid;  ///< empty: a kernel without perf_event_open
    std::optional<bool> nmi_watchdog;
};

struct ProcessFacts {
    bool cap_perfmon = false;
    bool cap_sys_admin = false;
    std::optional<int> seccomp;  ///< 0 none, 1 strict, 2 a filter, as Docker and Podman set
    bool container = false;
    std::optional<std::string> elision_tunables;  ///< the glibc.elision part of GLIBC_TUNABLES
    std::vector<unsigned> allowed_cpus;
};

struct HostDescription {
    CpuFacts cpu;
    KernelFacts kernel;
    ProcessFacts process;
    std::vector<PmuFacts> pmus;  ///< by name

    const PmuFacts* pmu(std::string_view name) const;
    /// The PMU that counts a core's events: `cpu`, the P-cores' of a hybrid CPU, or an Arm core's;
    /// null if there is none.
    const PmuFacts* core_pmu() const;
};

HostDescription describe_host(const std::filesystem::path& root, const CpuidSource& cpuid);

/// This computer.
HostDescription describe_host();

}  // namespace abortscope
