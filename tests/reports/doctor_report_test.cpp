// SPDX-License-Identifier: Apache-2.0
//
// What `doctor` prints of each made-up host is kept beside it, in tests/hosts/NAME/doctor.txt. With
// ABORTSCOPE_UPDATE_GOLDEN in the environment the files are written anew.
#include "reports/doctor_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/profiler/host/hosts.hpp"

namespace abortscope {
namespace {

class DoctorReport : public ::testing::TestWithParam<std::string> {
  protected:
    Diagnosis diagnosis = examine_recorded_host(tests::host_root(GetParam()));
};

TEST_P(DoctorReport, ReadsAsTheFileBesideTheHost) {
    const auto path = tests::host_root(GetParam()) / "doctor.txt";
    const std::string text = doctor_text(diagnosis);
    if (std::getenv("ABORTSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ifstream file(path);
    const std::string expected{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text, expected);
}

TEST_P(DoctorReport, SaysTheSameInJson) {
    const auto json = nlohmann::json::parse(doctor_json(diagnosis));
    EXPECT_EQ(json["can_measure_rtm"], diagnosis.can_measure_rtm());
    EXPECT_EQ(json["rtm"]["reason"], diagnosis.rtm.reason);
    EXPECT_EQ(json["counters"].size(), counter_count);
    ASSERT_EQ(json["checks"].size(), diagnosis.findings.size());
    for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
        EXPECT_EQ(json["checks"][i]["id"], diagnosis.findings[i].id);
        EXPECT_EQ(json["checks"][i]["remedy"], diagnosis.findings[i].remedy);
    }
    if (diagnosis.probe.attempts == 0) {
        EXPECT_TRUE(json["rtm"]["executes"].is_null()) << "not tried is not false";
    }
}

std::vector<std::string> host_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(tests::host_root(""))) {
        if (entry.is_directory()) names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(EveryMadeUpHost, DoctorReport, ::testing::ValuesIn(host_names()),
                         [](const auto& host) {
                             std::string name = host.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace abortscope
