// SPDX-License-Identifier: Apache-2.0
//
// What a subcommand takes, as the help, the man page and the completions of shells show it: all of
// them derive from the declarations alone.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace abortscope::cli {

struct OptionView {
    std::string short_name;  ///< "-o", or empty
    std::string long_name;   ///< "--output", or empty
    std::string value;       ///< "FILE"; empty for a flag
    std::string help;
    std::string group;
    bool is_positional = false;
    bool is_required = false;
    std::string name;  ///< of a positional: "SCENARIO"

    /// "-o, --output FILE", or "SCENARIO".
    std::string heading() const;
};

/// In the order of their declaration, the help option last.
std::vector<OptionView> options_of(const CLI::App& app);

/// "abortscope run [OPTIONS] SCENARIO"
std::string usage_of(const Command& command, const CLI::App& app);

/// Declares every subcommand and hands it over, in the table's order.
void for_each_command(const std::function<void(const Command&, const CLI::App&)>& use);

/// The help: with one line an option, or with all of it, examples and footnotes.
std::string short_help(const Command& command, const CLI::App& app, unsigned width);
std::string long_help(const Command& command, const CLI::App& app, unsigned width);

}  // namespace abortscope::cli
