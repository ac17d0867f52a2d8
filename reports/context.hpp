// SPDX-License-Identifier: Apache-2.0
//
// What a report says beside its rows: by which command, program and computer they were made.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace abortscope {

using Facts = std::vector<std::pair<std::string, std::string>>;

struct ReportContext {
    std::vector<std::string> command;  ///< the words of the command line, from "abortscope"
    Facts build;                       ///< "version": "0.1.0", "compiler": ...
    Facts host;                        ///< "cpu": "AMD EPYC ...", "kernel": ...
};

/// The command line as a shell takes it, with quotes only where it needs them.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace abortscope
