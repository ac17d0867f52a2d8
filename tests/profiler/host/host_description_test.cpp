// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/host_description.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "profiler/errors.hpp"
#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using tests::host;

TEST(HostDescription, ReadsTheCpuFromItsCpuidLeaves) {
    const CpuFacts cpu = host("skylake-sp-force-abort").description.cpu;
    EXPECT_EQ(cpu.vendor, "GenuineIntel");
    EXPECT_EQ(cpu.brand, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz");
    EXPECT_EQ(cpu.family, 6u);
    EXPECT_EQ(cpu.model, 0x55u);
    EXPECT_EQ(cpu.stepping, 4u);
    EXPECT_EQ(cpu.microarch->name, "skx");
    EXPECT_EQ(cpu.general_counters, 4u);
    EXPECT_EQ(cpu.fixed_counters, 3u);
    EXPECT_EQ(cpu.microcode, "0x2006e05");
    EXPECT_TRUE(cpu.rtm);
    EXPECT_TRUE(cpu.hle);
    EXPECT_TRUE(cpu.tsx_force_abort);
    EXPECT_FALSE(cpu.rtm_always_abort);
    EXPECT_FALSE(cpu.tsxldtrk);
    EXPECT_FALSE(cpu.hypervisor);
    EXPECT_FALSE(cpu.hybrid);
}

TEST(HostDescription, EachFeatureBitIsReadFromItsOwnPlace) {
    EXPECT_TRUE(host("skylake-always-abort").description.cpu.rtm_always_abort);
    EXPECT_FALSE(host("skylake-always-abort").description.cpu.rtm);
    EXPECT_TRUE(host("sapphire-rapids").description.cpu.tsxldtrk);
    EXPECT_FALSE(host("sapphire-rapids").description.cpu.hle);
    EXPECT_TRUE(host("alder-lake-hybrid").description.cpu.hybrid);
    EXPECT_EQ(host("vm-hides-rtm").description.cpu.hypervisor_signature, "KVMKVMKVM");
}

TEST(HostDescription, FamiliesBeyondFifteenAddTheExtendedField) {
    const CpuFacts cpu = host("amd-epyc").description.cpu;
    EXPECT_EQ(cpu.family, 0x1au);
    EXPECT_EQ(cpu.model, 0x02u);
    EXPECT_EQ(cpu.vendor, "AuthenticAMD");
    EXPECT_EQ(cpu.microarch, nullptr);
    EXPECT_EQ(cpu.general_counters, 0u) << "leaf 0AH is Intel's";
}

TEST(HostDescription, WithoutCpuidThereIsAnArmHostWithItsPmu) {
    const HostDescription arm = host("arm64").description;
    EXPECT_EQ(arm.cpu.vendor, "");
    ASSERT_NE(arm.core_pmu(), nullptr);
    EXPECT_EQ(arm.core_pmu()->name, "armv8_pmuv3_0");
}

TEST(HostDescription, TheLastTsxOptionOfTheBootLineCounts) {
    const KernelFacts kernel = host("cascadelake-tsx-off").description.kernel;
    EXPECT_EQ(kernel.tsx_option, "off");
    EXPECT_EQ(kernel.tsx_default, "auto");
    EXPECT_EQ(kernel.tsx_async_abort, "Mitigation: TSX disabled");
    EXPECT_EQ(host("icelake-sp-tsx-default-off").description.kernel.tsx_option, std::nullopt);
    EXPECT_EQ(host("icelake-sp-tsx-default-off").description.kernel.tsx_default, "off");
}

TEST(HostDescription, ReadsThePmusAndTheirFormats) {
    const HostDescription skx = host("skylake-sp-force-abort").description;
    ASSERT_NE(skx.core_pmu(), nullptr);
    EXPECT_EQ(skx.core_pmu()->name, "cpu");
    EXPECT_EQ(skx.core_pmu()->type, 4u);
    EXPECT_TRUE(skx.core_pmu()->format_in_tx);
    EXPECT_TRUE(skx.core_pmu()->format_in_tx_cp);
    EXPECT_EQ(skx.core_pmu()->allow_tsx_force_abort, true);
    EXPECT_EQ(skx.pmu("software")->type, 1u);

    const HostDescription hybrid = host("alder-lake-hybrid").description;
    EXPECT_EQ(hybrid.core_pmu()->name, "cpu_core");
    EXPECT_EQ(hybrid.core_pmu()->cpus.size(), 16u);
    EXPECT_EQ(hybrid.pmu("cpu_atom")->cpus.front(), 16u);
    EXPECT_EQ(host("vm-without-pmu").description.core_pmu(), nullptr);
}

TEST(HostDescription, ReadsTheRightsOfTheProcess) {
    const ProcessFacts docker = host("docker-seccomp").description.process;
    EXPECT_FALSE(docker.cap_perfmon);
    EXPECT_FALSE(docker.cap_sys_admin);
    EXPECT_EQ(docker.seccomp, 2);
    EXPECT_TRUE(docker.container);
    const ProcessFacts root = host("sapphire-rapids").description.process;
    EXPECT_TRUE(root.cap_perfmon);
    EXPECT_TRUE(root.cap_sys_admin);
    EXPECT_EQ(root.seccomp, 0);
    EXPECT_FALSE(root.container);
    EXPECT_EQ(root.allowed_cpus, (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(HostDescription, OnlyTheElisionTunablesOfGlibcAreKept) {
    EXPECT_EQ(host("glibc-elision").description.process.elision_tunables, "glibc.elision.enable=1");
    EXPECT_EQ(host("sapphire-rapids").description.process.elision_tunables, std::nullopt);
}

TEST(HostDescription, AnEmptyRootDescribesNothingAndThrowsNothing) {
    const HostDescription nothing = describe_host("/nonexistent", CpuidRecording(""));
    EXPECT_EQ(nothing.cpu.vendor, "");
    EXPECT_EQ(nothing.kernel.perf_event_paranoid, std::nullopt);
    EXPECT_TRUE(nothing.pmus.empty());
}

TEST(HostDescription, ThisComputerIsDescribedByTheSameCode) {
    const HostDescription here = describe_host();
    EXPECT_FALSE(here.kernel.release.empty());
    EXPECT_FALSE(here.process.allowed_cpus.empty());
#if defined(__x86_64__)
    EXPECT_FALSE(here.cpu.vendor.empty());
#endif
}

TEST(CpuidRecording, ALineThatOnlyLooksLikeALeafIsRefusedWithItsNumber) {
    try {
        CpuidRecording("CPU:\n   0x00000007 0x00: eax=zero\n");
        ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
}

TEST(RecordedHost, AMissingDirectoryIsAnIoError) {
    EXPECT_THROW(read_recorded_host("/nonexistent"), IoError);
}

}  // namespace
}  // namespace abortscope
