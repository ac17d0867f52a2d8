// SPDX-License-Identifier: Apache-2.0
#include "cli/invocation.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/Version.hpp>
#include <boost/version.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "machines/native/affinity.hpp"

namespace abortscope::cli {
namespace {

std::vector<std::string>& words() {
    static std::vector<std::string> words{"abortscope"};
    return words;
}

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

Facts host_facts() {
    Facts facts;
    utsname names{};
    if (uname(&names) == 0) {
        facts.emplace_back("system",
                           fmt::format("{} {} {}", names.sysname, names.release, names.machine));
    }
    facts.emplace_back("cpus", fmt::format("{}", native::allowed_cpus().size()));
    return facts;
}

}  // namespace

void remember_invocation(std::span<const std::string> arguments) {
    words().assign({"abortscope"});
    words().insert(words().end(), arguments.begin(), arguments.end());
}

ReportContext report_context() {
    return {words(), build_facts(), host_facts()};
}

std::string_view version() {
    return ABORTSCOPE_VERSION;
}

Facts build_facts() {
    return {
        {"version", std::string(version())},
        {"compiler", compiler},
        {"build_type", ABORTSCOPE_BUILD_TYPE},
        {"fmt",
         fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
        {"cli11", CLI11_VERSION},
        {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
        {"boost", fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                              BOOST_VERSION % 100)},
        {"chart_js", ABORTSCOPE_CHART_JS_VERSION},
    };
}

}  // namespace abortscope::cli
