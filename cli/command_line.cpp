// SPDX-License-Identifier: Apache-2.0
//
// From a command line to an action, and from whatever goes wrong to one line and an exit status.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "cli/color.hpp"
#include "cli/command.hpp"
#include "cli/invocation.hpp"
#include "cli/option_view.hpp"
#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"
#include "profiler/scenario.hpp"
#include "reports/output.hpp"

namespace abortscope::cli {
namespace {

std::string version_text() {
    std::string text = fmt::format("abortscope {}\n", version());
    for (const auto& [name, value] : build_facts()) {
        if (name != "version") text += fmt::format("  {:<15}{}\n", name, value);
    }
    return text;
}

std::vector<std::string_view> command_names() {
    std::vector<std::string_view> names;
    for (const Command& command : commands()) names.push_back(command.name);
    return names;
}

const Command* find_command(std::string_view name) {
    for (const Command& command : commands()) {
        if (command.name == name) return &command;
    }
    return nullptr;
}

/// The long options of a command, without dashes.
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back(name);
    }
    return names;
}

/// CLI11 takes the next word as the value of "--n=": it is refused before CLI11 sees it.
void refuse_empty_values(std::span<const std::string> arguments) {
    for (const std::string& argument : arguments) {
        if (argument == "--") return;
        if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
            throw UsageError(fmt::format("{} has no value", in_quotes(argument)));
        }
    }
}

/// What nobody declared. An option first: the word after it may only look like a positional.
void refuse_leftovers(const CLI::App& app) {
    const std::vector<std::string> leftovers = app.remaining();
    for (const std::string& leftover : leftovers) {
        if (leftover.size() < 2 || leftover[0] != '-') continue;
        const std::string typed = leftover.substr(0, leftover.find('='));
        const std::vector<std::string> names = option_names(app);
        const std::vector<std::string_view> views(names.begin(), names.end());
        const std::string_view near = nearest(typed.substr(typed.find_first_not_of('-')), views);
        throw UsageError(near.empty() ? fmt::format("unknown option {}; `{} --help` lists them",
                                                    in_quotes(typed), app.get_name())
                                      : fmt::format("unknown option {}; did you mean '--{}'?",
                                                    in_quotes(typed), near));
    }
    if (!leftovers.empty()) {
        throw UsageError(fmt::format("{} is a word too many; `{} --help` shows the usage",
                                     in_quotes(leftovers.front()), app.get_name()));
    }
}

/// CLI11's complaint in one line of our own.
std::string complaint(const CLI::ParseError& error) {
    const std::string text = error.what();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        const std::string option = text.substr(0, text.find(':'));
        return text.find("missing") != std::string::npos ? option + " needs a value"
                                                         : option + " is given twice";
    }
    return text.substr(0, text.find('\n'));
}

int run_subcommand(const Command& command, std::vector<std::string> arguments) {
    CLI::App app{std::string(command.summary), "abortscope " + std::string(command.name)};
    app.allow_extras();
    app.set_help_flag("-h,--help", "-h: this in short; --help: all of it, with examples");
    const Action action = command.declare(app);
    declare_color(app);
    const bool wants_all =
        std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
    if (!command.takes_command) refuse_empty_values(arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11's vector overload takes them
    try {
        app.parse(arguments);
    } catch (const CLI::CallForHelp&) {
        Output output = Output::standard();
        output.write(wants_all ? long_help(command, app, output.width())
                               : short_help(command, app, output.width()));
        return exit_code::done;
    } catch (const CLI::ParseError& error) {
        throw UsageError(complaint(error));
    }
    if (!command.takes_command) refuse_leftovers(app);
    return action();
}

std::string overview() {
    std::string text =
        "abortscope: a profiler for Intel RTM aborts in lock code\n\n"
        "Usage: abortscope COMMAND [OPTIONS]\n\nCommands:\n";
    for (const Command& command : commands()) {
        text += fmt::format("  {:<12}{}\n", command.name, command.summary);
    }
    text +=
        "\n  `abortscope COMMAND --help` explains a command.\n\n"
        "Options:\n  -h, --help    this text\n  --version     the version\n";
    return text;
}

int report(int code, std::string_view line) noexcept {
    note(line, Tone::bad);
    return code;
}

int dispatch(std::vector<std::string> arguments) {
    if (arguments.empty()) throw UsageError("no command; `abortscope --help` lists them");
    const std::string first = arguments.front();
    arguments.erase(arguments.begin());
    if (first == "-h" || first == "--help" || first == "help") {
        Output::standard().write(overview());
        return exit_code::done;
    }
    if (first == "--version") {
        Output::standard().write(version_text());
        return exit_code::done;
    }
    const Command* command = find_command(first);
    if (command == nullptr) {
        const std::vector<std::string_view> names = command_names();
        throw UsageError(
            first.starts_with("-")
                ? fmt::format("unknown option {}; the command comes first", in_quotes(first))
                : unknown_name("command", first, names));
    }
    if (command->own_failure == 0) return run_subcommand(*command, std::move(arguments));
    try {
        return run_subcommand(*command, std::move(arguments));
    } catch (const std::exception& error) {
        return report(command->own_failure, error.what());
    }
}

}  // namespace

void note(std::string_view line, Tone tone) noexcept {
    try {
        Output output = Output::standard_error();
        output.print(fmt::format("{} {}\n", paint_for(output)(tone, "abortscope:"), line));
    } catch (const std::exception&) {
        // Nothing can be done about a standard error that takes nothing.
    }
}

int run_command_line(std::span<const char* const> arguments) {
    try {
        std::vector<std::string> words(arguments.begin(), arguments.end());
        remember_invocation(words);
        return dispatch(std::move(words));
    } catch (const UsageError& error) {
        return report(exit_code::usage, error.what());
    } catch (const CannotMeasure& error) {
        return report(exit_code::cannot_measure, error.what());
    } catch (const std::bad_alloc&) {
        return report(exit_code::failed, "out of memory");
    } catch (const std::exception& error) {
        // IoError, CheckFailed and whatever else a trial or a library throws.
        return report(exit_code::failed, error.what());
    }
}

}  // namespace abortscope::cli
