// SPDX-License-Identifier: Apache-2.0
//
// abortscope man: the man page, from the declarations of the subcommands.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "cli/invocation.hpp"
#include "cli/option_view.hpp"
#include "reports/output.hpp"

namespace abortscope::cli {
namespace {

/// Text for roff: no minus that becomes a hyphen, no line that begins with a request.
std::string roff(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '\\') {
            result += "\\e";
        } else if (letter == '-') {
            result += "\\-";
        } else {
            result += letter;
        }
    }
    if (result.starts_with('.') || result.starts_with('\'')) result.insert(0, "\\&");
    return result;
}

std::string page() {
    std::string text = fmt::format(
        ".TH ABORTSCOPE 1 \"\" \"abortscope {}\" \"User Commands\"\n"
        ".SH NAME\nabortscope \\- a profiler for Intel RTM aborts in lock code\n"
        ".SH SYNOPSIS\n.B abortscope\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
        ".SH DESCRIPTION\n"
        "Runs lock workloads under lock elision, on this computer or on a simulated one, counts\n"
        "attempts, commits and aborts, sorts the aborts by cause, and compares them across\n"
        "mutation levels, locks, retry policies and thread counts.\n"
        ".SH COMMANDS\n",
        version());
    for_each_command([&](const Command& command, const CLI::App& app) {
        text += fmt::format(".SS {}\n{}.\n.PP\n.B {}\n", roff(usage_of(command, app)),
                            roff(command.summary), "Options:");
        for (const OptionView& option : options_of(app)) {
            text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(option.heading()), roff(option.help));
        }
        for (const Example& example : command.examples) {
            text += fmt::format(".PP\n{}:\n.PP\n.RS\n.nf\n{}\n.fi\n.RE\n", roff(example.meaning),
                                roff(example.command));
        }
    });
    text += ".SH EXIT STATUS\n";
    for (const ExitStatus& status : exit_statuses) {
        text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", status.code, roff(status.meaning));
    }
    return text;
}

}  // namespace

Action declare_man(CLI::App& app) {
    app.footer("Read it here: abortscope man | man -l -");
    return [] {
        Output::standard().write(page());
        return exit_code::done;
    };
}

}  // namespace abortscope::cli
