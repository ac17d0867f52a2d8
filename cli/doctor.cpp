// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "profiler/host/doctor.hpp"
#include "reports/doctor_report.hpp"
#include "reports/output.hpp"

namespace abortscope::cli {

Action declare_doctor(CLI::App& app) {
    struct Options {
        bool json = false;
        std::string root;
    };
    auto options = std::make_shared<Options>();
    app.add_flag("--json", options->json, "Print the diagnosis as JSON");
    app.add_option("--root", options->root,
                   "Examine the host that was recorded in this directory instead of this one");
    app.footer(
        "Exit code: 0 if RTM commits and its counters count, 3 if not.\n"
        "docs/doctor.md explains every check, and what a recording holds.");
    return [options] {
        const Diagnosis diagnosis =
            options->root.empty() ? examine_host() : examine_recorded_host(options->root);
        if (options->json) {
            Output::standard().write(doctor_json(diagnosis));
        } else {
            Output::standard().print(doctor_text(diagnosis));
        }
        return diagnosis.can_measure_rtm() ? exit_code::done : exit_code::cannot_measure;
    };
}

}  // namespace abortscope::cli
