// SPDX-License-Identifier: Apache-2.0
#include "cli/option_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/color.hpp"
#include "reports/wrapped.hpp"

namespace abortscope::cli {
namespace {

constexpr std::string_view usual_group = "Options";

/// CLI11 writes "UINT:UINT in [1 - 1000000]" and "TEXT ...": the kind of the value is enough.
std::string value_of(const CLI::Option& option) {
    if (option.get_items_expected_max() == 0) return {};
    std::string value = option.get_type_name();
    value = value.substr(0, value.find_first_of(": "));
    return value == "UINT" || value == "INT" || value == "FLOAT" ? "N" : value;
}

OptionView view_of(const CLI::Option& option) {
    OptionView view;
    if (!option.get_snames().empty()) view.short_name = "-" + option.get_snames().front();
    if (!option.get_lnames().empty()) view.long_name = "--" + option.get_lnames().front();
    view.is_positional = option.get_positional() && view.long_name.empty();
    if (view.is_positional) {
        view.name = option.get_name(true);
        const bool many = option.get_items_expected_max() > 1;
        if (many) view.name += "...";
        view.is_required = option.get_required();
    } else {
        view.value = value_of(option);
    }
    view.help = option.get_description();
    view.group = option.get_group();
    return view;
}

std::string cut(const std::string& text, std::size_t width) {
    if (text.size() <= width) return text;
    return text.substr(0, width - 3) + "...";
}

constexpr std::size_t indent = 2;

/// Groups in the order of their first options.
std::vector<std::string> groups_of(const std::vector<OptionView>& options) {
    std::vector<std::string> groups;
    for (const OptionView& option : options) {
        if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
            groups.push_back(option.group);
        }
    }
    return groups;
}

std::string option_list(const CLI::App& app, unsigned width, bool whole) {
    const std::vector<OptionView> options = options_of(app);
    std::size_t column = 0;
    for (const OptionView& option : options) {
        column = std::max(column, option.heading().size());
    }
    column = indent + std::min<std::size_t>(column, 24) + 2;
    std::string text;
    for (const std::string& group : groups_of(options)) {
        text += fmt::format("\n{}:\n", group);
        for (const OptionView& option : options) {
            if (option.group != group) continue;
            std::string line = std::string(indent, ' ') + option.heading();
            if (line.size() + 2 > column) {
                line += '\n' + std::string(column, ' ');
            } else {
                line.resize(column, ' ');
            }
            text += line;
            text += whole ? wrapped(option.help, column, width) : cut(option.help, width - column);
            text += '\n';
        }
    }
    return text;
}

std::string start_of_help(const Command& command, const CLI::App& app, unsigned width) {
    const std::string line = fmt::format("abortscope {}: {}", command.name, command.summary);
    return fmt::format("{}\n\nUsage: {}\n", wrapped(line, 0, width), usage_of(command, app));
}

}  // namespace

std::string OptionView::heading() const {
    if (is_positional) return name;
    std::string text = short_name;
    if (!short_name.empty() && !long_name.empty()) text += ", ";
    text += long_name;
    if (!value.empty()) text += ' ' + value;
    return text;
}

std::vector<OptionView> options_of(const CLI::App& app) {
    std::vector<OptionView> views;
    std::vector<OptionView> help;
    for (const CLI::Option* option : app.get_options()) {
        OptionView view = view_of(*option);
        if (view.group.empty()) continue;  // hidden
        if (view.is_positional) view.group = "Arguments";
        (view.long_name == "--help" ? help : views).push_back(std::move(view));
    }
    std::stable_partition(views.begin(), views.end(),
                          [](const OptionView& view) { return view.is_positional; });
    const auto last_usual = std::find_if(views.rbegin(), views.rend(), [](const OptionView& view) {
        return view.group == usual_group;
    });
    views.insert(last_usual.base(), help.begin(), help.end());
    return views;
}

std::string usage_of(const Command& command, const CLI::App& app) {
    std::string text = fmt::format("abortscope {} [OPTIONS]", command.name);
    for (const OptionView& option : options_of(app)) {
        if (option.is_positional) text += ' ' + option.name;
    }
    if (command.takes_command) text += " -- COMMAND [ARGUMENTS]";
    return text;
}

void for_each_command(const std::function<void(const Command&, const CLI::App&)>& use) {
    for (const Command& command : commands()) {
        CLI::App app{std::string(command.summary), "abortscope " + std::string(command.name)};
        app.set_help_flag("-h,--help", "-h: in short; --help: all of it, with examples");
        const Action action = command.declare(app);
        declare_color(app);
        use(command, app);
    }
}

std::string short_help(const Command& command, const CLI::App& app, unsigned width) {
    return start_of_help(command, app, width) + option_list(app, width, false) +
           fmt::format("\n`abortscope {} --help` tells more.\n", command.name);
}

std::string long_help(const Command& command, const CLI::App& app, unsigned width) {
    std::string text = start_of_help(command, app, width) + option_list(app, width, true);
    if (!command.examples.empty()) text += "\nExamples:\n";
    for (const Example& example : command.examples) {
        text += fmt::format("  {}\n      {}\n", example.command, example.meaning);
    }
    if (!app.get_footer().empty()) text += '\n' + app.get_footer() + '\n';
    return text;
}

}  // namespace abortscope::cli
