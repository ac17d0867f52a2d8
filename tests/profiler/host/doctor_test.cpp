// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "profiler/errors.hpp"
#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;

Diagnosis examine(const std::string& name) {
    return examine_recorded_host(tests::host_root(name));
}

const Finding& finding(const Diagnosis& diagnosis, std::string_view id) {
    const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                    [&](const Finding& row) { return row.id == id; });
    EXPECT_NE(found, diagnosis.findings.end()) << id;
    return *found;
}

TEST(Doctor, FindsNothingInTheWayOfASapphireRapidsThatWorks) {
    const Diagnosis diagnosis = examine("sapphire-rapids");
    EXPECT_TRUE(diagnosis.can_measure_rtm());
    for (const Finding& row : diagnosis.findings) {
        EXPECT_EQ(row.state, FindingState::fine) << row.title << ": " << row.value;
    }
}

// Acceptance case A1.
TEST(Doctor, NamesTheKernelThatTurnedTsxOff) {
    const Diagnosis diagnosis = examine("cascadelake-tsx-off");
    EXPECT_FALSE(diagnosis.can_measure_rtm());
    EXPECT_EQ(finding(diagnosis, "tsx_option").state, FindingState::problem);
    EXPECT_EQ(finding(diagnosis, "tsx_option").value, "tsx=off on the boot line");
    EXPECT_THAT(finding(diagnosis, "tsx_option").remedy, HasSubstr("boot with tsx=on"));
    EXPECT_EQ(finding(diagnosis, "tsx_async_abort").value, "Mitigation: TSX disabled");
}

// Acceptance case A2.
TEST(Doctor, NamesTheMicrocodeThatAbortsEverything) {
    const Diagnosis diagnosis = examine("skylake-always-abort");
    EXPECT_FALSE(diagnosis.can_measure_rtm());
    EXPECT_EQ(finding(diagnosis, "rtm_always_abort").state, FindingState::problem);
    EXPECT_THAT(finding(diagnosis, "rtm_always_abort").remedy, HasSubstr("no change"));
    EXPECT_EQ(finding(diagnosis, "allow_tsx_force_abort").state, FindingState::fine)
        << "nothing is left to force";
}

// Acceptance case A3.
TEST(Doctor, NotesTheFourthCounterThatWouldAbortEverything) {
    const Diagnosis diagnosis = examine("skylake-sp-force-abort");
    EXPECT_TRUE(diagnosis.can_measure_rtm());
    EXPECT_EQ(finding(diagnosis, "tsx_force_abort").state, FindingState::note);
    EXPECT_THAT(finding(diagnosis, "pmu").value, HasSubstr("3 of 4"));
    EXPECT_THAT(finding(diagnosis, "allow_tsx_force_abort").remedy, HasSubstr("echo 0 >"));
}

// Acceptance case A8.
TEST(Doctor, AnIllegalXbeginIsAFindingNotACrash) {
    const Diagnosis diagnosis = examine("emulator-sigill");
    EXPECT_FALSE(diagnosis.can_measure_rtm());
    EXPECT_EQ(finding(diagnosis, "rtm_probe").value, "XBEGIN raised SIGILL");
}

// Acceptance case A9.
TEST(Doctor, AVirtualPmuThatCountsNothingCannotMeasure) {
    const Diagnosis diagnosis = examine("vm-pmu-counts-nothing");
    EXPECT_TRUE(diagnosis.rtm.works());
    EXPECT_FALSE(diagnosis.can_measure_rtm());
    const CounterFinding& start = diagnosis.counters[index_of(Counter::tx_start)];
    EXPECT_FALSE(start.counts);
    EXPECT_THAT(start.reason, HasSubstr("self-test"));
}

TEST(Doctor, AVirtualMachineWithoutAPmuAsksForOne) {
    const Diagnosis diagnosis = examine("vm-without-pmu");
    EXPECT_EQ(finding(diagnosis, "pmu").state, FindingState::problem);
    EXPECT_THAT(finding(diagnosis, "pmu").remedy, HasSubstr("pmu=on"));
    EXPECT_EQ(finding(diagnosis, "hypervisor").value, "KVMKVMKVM");
}

// Acceptance case A10.
TEST(Doctor, AContainersFilterAndASettingAreToldApart) {
    EXPECT_EQ(finding(examine("docker-seccomp"), "seccomp").state, FindingState::note);
    EXPECT_THAT(finding(examine("docker-seccomp"), "seccomp").remedy, HasSubstr("PERFMON"));
    EXPECT_EQ(finding(examine("paranoid-3"), "seccomp").state, FindingState::fine);
    EXPECT_EQ(finding(examine("paranoid-3"), "perf_event_paranoid").state, FindingState::problem);
    EXPECT_EQ(finding(examine("paranoid-2"), "perf_event_paranoid").state, FindingState::note);
    EXPECT_TRUE(examine("paranoid-2").can_measure_rtm()) << "in user mode";
}

// Acceptance case A11.
TEST(Doctor, TheNmiWatchdogIsNotedWithTheWayToStopIt) {
    const Diagnosis diagnosis = examine("broadwell-nmi-watchdog");
    EXPECT_TRUE(diagnosis.can_measure_rtm());
    EXPECT_THAT(finding(diagnosis, "nmi_watchdog").remedy, HasSubstr("nmi_watchdog=0"));
}

// Acceptance case A17.
TEST(Doctor, GraniteRapidsNeedsNoLibpfm) {
    EXPECT_TRUE(examine("granite-rapids").can_measure_rtm());
}

TEST(Doctor, ElisionByTheCLibraryIsNoted) {
    EXPECT_THAT(finding(examine("glibc-elision"), "glibc_elision").value,
                HasSubstr("glibc.elision.enable=1"));
}

TEST(Doctor, EveryProblemHasARemedyAndEveryCheckAnId) {
    for (const auto& entry : std::filesystem::directory_iterator(tests::host_root(""))) {
        if (!entry.is_directory()) continue;
        for (const Finding& row : examine_recorded_host(entry.path()).findings) {
            EXPECT_FALSE(row.value.empty()) << entry.path() << " " << row.id;
            EXPECT_FALSE(row.id.empty());
            if (row.state == FindingState::problem) {
                EXPECT_FALSE(row.remedy.empty()) << entry.path() << " " << row.id;
            }
        }
    }
}

TEST(Doctor, TellsTheTruthAboutThisComputer) {
    const Diagnosis here = examine_host();
    EXPECT_EQ(here.probe.advertised, here.host.cpu.rtm);
    if (!here.probe.advertised) {
        EXPECT_EQ(here.probe.attempts, 0u) << "no RTM instruction before CPUID says so";
    }
    EXPECT_EQ(here.rtm.works(), here.probe.commits > 0);
    if (here.host.core_pmu() == nullptr) {
        EXPECT_FALSE(here.counters[index_of(Counter::cycles)].counts);
    }
}

TEST(Doctor, ARecordingThatIsNoneIsAnIoError) {
    EXPECT_THROW(examine_recorded_host("/nonexistent"), IoError);
}

}  // namespace
}  // namespace abortscope
