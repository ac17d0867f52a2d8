// SPDX-License-Identifier: Apache-2.0
//
// Two emulators execute XBEGIN and abort it at once, though their CPUID denies RTM: Valgrind, with
// status 8, and qemu-user 7.2, with status 0. With CPUID overridden they run doctor's probe and an
// elided run of the real native code to their fall-back paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/csv_table.hpp"
#include "tests/cli/program.hpp"

namespace abortscope {
namespace {

using ::testing::HasSubstr;

struct Emulator {
    const char* name;
    const char* command;
    const char* version;  ///< what its --version must say for this test to apply
    const char* status;   ///< that every XBEGIN has there
    const char* cause;
};

class UnderAnEmulator : public ::testing::TestWithParam<Emulator> {
  protected:
    void SetUp() override {
#if !defined(__x86_64__)
        GTEST_SKIP() << "RTM is an x86 feature";
#endif
#if defined(ABORTSCOPE_SANITIZED)
        GTEST_SKIP() << "sanitizers do not run under emulators";
#endif
        const Outcome version =
            shell(std::string(GetParam().command) + " --version 2>/dev/null | head -1");
        if (version.out.find(GetParam().version) == std::string::npos) {
            GTEST_SKIP() << GetParam().name << " (" << GetParam().version << ") is not installed";
        }
    }

    static Outcome run(const std::string& words) {
        return shell(std::string(GetParam().command) + " " ABORTSCOPE_ASSUMING_RTM " " + words);
    }
};

TEST_P(UnderAnEmulator, DoctorSaysThatRtmIsAdvertisedExecutesAndNeverCommits) {
    const Outcome ran = run("advertised doctor");
    EXPECT_EQ(ran.code, 3) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("RTM        yes         yes        0 of 1000"));
    EXPECT_THAT(ran.out,
                HasSubstr("1000 of 1000 empty transactions aborted, the last with status " +
                          std::string(GetParam().status)));
    EXPECT_THAT(ran.out, HasSubstr("whether this is an emulator"));
}

TEST_P(UnderAnEmulator, APolicyThatNeedsRtmIsRefusedWithThatReason) {
    const Outcome ran = run("advertised run ovs-hmap --machine native --policy ovs2016 --n 100");
    EXPECT_EQ(ran.code, 3);
    EXPECT_THAT(ran.err, HasSubstr("1000 of 1000 empty transactions aborted"));
}

TEST_P(UnderAnEmulator, AnElidedRunCountsEveryAbortByItsCauseAndTakesTheLock) {
    const Outcome ran =
        run("commits run ovs-hmap --machine native --policy ck --n 200 --threads 2 --csv - "
            "2>/dev/null");
    ASSERT_EQ(ran.code, 0) << ran.err;
    const CsvTable table = CsvTable::parse(ran.out, "rows");
    bool any = false;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::string cause = "cause_" + std::string(GetParam().cause);
        const double aborts = table.number(row, cause).value_or(0);
        EXPECT_EQ(table.number(row, "fallback_rate").value_or(1), 1) << "nothing commits";
        EXPECT_EQ(table.number(row, "abort_rate").value_or(1), 1);
        any = any || aborts > 0;
    }
    EXPECT_TRUE(any) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(, UnderAnEmulator,
                         ::testing::Values(Emulator{"valgrind", "valgrind --tool=none -q",
                                                    "valgrind-3.", "0x8", "capacity"},
                                           Emulator{"qemu", "qemu-x86_64", "version 7.2", "0x0",
                                                    "other"}),
                         [](const auto& emulator) { return std::string(emulator.param.name); });

}  // namespace
}  // namespace abortscope
