// SPDX-License-Identifier: Apache-2.0
//
// The table of subcommands. A new one is a file `cli/NAME.cpp`, its declaration and its row here.
#include <array>

#include "cli/command.hpp"

namespace abortscope::cli {

Action declare_doctor(CLI::App& app);
Action declare_events(CLI::App& app);
Action declare_decode(CLI::App& app);

std::span<const Command> commands() {
    static constexpr std::array table{
        Command{"doctor", "Can RTM be measured here? If not, why, and what to do", declare_doctor},
        Command{"events", "The TSX counters of this CPU or another, and whether they open",
                declare_events},
        Command{"decode", "Explain abort status words, or the transaction flags of perf samples",
                declare_decode},
    };
    return table;
}

}  // namespace abortscope::cli
