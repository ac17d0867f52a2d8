// SPDX-License-Identifier: Apache-2.0
//
// abortscope completion SHELL: completions from the declarations of the subcommands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/option_view.hpp"
#include "primitives/retry_policy.hpp"
#include "profiler/columns.hpp"
#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"
#include "profiler/nearest.hpp"
#include "reports/output.hpp"
#include "scenarios/registry.hpp"

namespace abortscope::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view shells[] = {"bash", "zsh", "fish"};

Words scenario_names() {
    Words names;
    for (const ScenarioEntry& entry : scenarios()) names.emplace_back(entry.info->name);
    return names;
}

Words policy_names() {
    Words names;
    for (const RetryPolicy& policy : retry_policies) names.emplace_back(policy.name);
    return names;
}

Words machine_words() {
    return {machine_names().begin(), machine_names().end()};
}

Words lock_names() {
    Words names;
    for (const ScenarioEntry& entry : scenarios()) {
        for (const std::string_view lock : entry.info->locks) {
            if (std::find(names.begin(), names.end(), lock) == names.end())
                names.emplace_back(lock);
        }
    }
    return names;
}

Words column_names() {
    Words names;
    for (const Column& column : fixed_columns()) names.emplace_back(column.name);
    return names;
}

Words list_words() {
    Words words = scenario_names();
    words.insert(words.begin(), {"scenarios", "policies", "machines"});
    return words;
}

Words shell_words() {
    return {std::begin(shells), std::end(shells)};
}

/// What completes an option's value or a positional; what is not here is a number, or a file.
struct Source {
    std::string_view name;
    Words (*words)();
};

constexpr Source sources[] = {
    {"--policy", policy_names}, {"--machine", machine_words}, {"--lock", lock_names},
    {"--metric", column_names}, {"--by", column_names},       {"SCENARIO", scenario_names},
    {"WHAT", list_words},       {"SHELL", shell_words},
};

Words words_for(const OptionView& option) {
    const std::string& name = option.is_positional ? option.name : option.long_name;
    for (const Source& source : sources) {
        if (source.name == name) return source.words();
    }
    return {};
}

bool takes_file(const OptionView& option) {
    return option.value == "FILE" || option.name == "BEFORE" || option.name == "AFTER";
}

std::string joined(const Words& words) {
    return fmt::format("{}", fmt::join(words, " "));
}

Words option_words(const CLI::App& app) {
    Words words;
    for (const OptionView& option : options_of(app)) {
        if (!option.short_name.empty()) words.push_back(option.short_name);
        if (!option.long_name.empty()) words.push_back(option.long_name);
    }
    return words;
}

Words command_words() {
    Words words;
    for (const Command& command : commands()) words.emplace_back(command.name);
    return words;
}

// ---- bash ----

/// After a comma only the last element of the list is completed. Bash takes a colon for the end of
/// a word, so what stands before it in "model:haswell" is cut from the replies.
constexpr std::string_view bash_start =
    R"(# bash completion for abortscope; made by `abortscope completion bash`
_abortscope_reply() {
  local done= word=$cur
  [[ $cur == *,* ]] && done=${cur%,*}, word=${cur##*,}
  COMPREPLY=($(compgen -P "$done" -W "$1" -- "$word"))
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
  fi
}

_abortscope() {
  local line=${COMP_LINE:0:COMP_POINT}
  local cur=${line##*[[:space:]]}
  local -a words
  read -ra words <<<"$line"
  [[ $cur == '' ]] && words+=('')
  local command=${words[1]-} prev=${words[${#words[@]}-2]}
  COMPREPLY=()
  if (( ${#words[@]} <= 2 )); then
    _abortscope_reply "@COMMANDS@"
    return
  fi
  case $command in
)";

constexpr std::string_view bash_end = R"(  esac
}
complete -o default -F _abortscope abortscope
)";

std::string bash_command(const Command& command, const CLI::App& app) {
    std::string text = fmt::format("    {})\n      case $prev in\n", command.name);
    Words positionals;
    for (const OptionView& option : options_of(app)) {
        const Words words = words_for(option);
        if (option.is_positional) {
            positionals.insert(positionals.end(), words.begin(), words.end());
        } else if (!words.empty()) {
            text += fmt::format("        {}) _abortscope_reply \"{}\"; return ;;\n",
                                option.long_name, joined(words));
        } else if (!option.value.empty()) {
            text += fmt::format("        {}) return ;;\n", option.long_name);  // a file or a number
        }
    }
    return text + fmt::format(R"(      esac
      if [[ $cur == -* ]]; then
        _abortscope_reply "{}"
      else
        _abortscope_reply "{}"
      fi
      ;;
)",
                              joined(option_words(app)), joined(positionals));
}

std::string bash() {
    std::string text(bash_start);
    const std::string_view place = "@COMMANDS@";
    text.replace(text.find(place), place.size(), joined(command_words()));
    for_each_command(
        [&](const Command& command, const CLI::App& app) { text += bash_command(command, app); });
    return text.append(bash_end);
}

// ---- zsh ----

/// In a single-quoted _arguments specification, where colons and brackets have a meaning.
std::string zsh_text(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '\'') {
            result += "'\\''";
        } else {
            if (letter == ':' || letter == '[' || letter == ']') result += '\\';
            result += letter;
        }
    }
    return result;
}

std::string zsh_values(const OptionView& option) {
    const Words words = words_for(option);
    if (takes_file(option)) return "_files";
    if (words.empty()) return " ";
    std::string escaped;
    for (const std::string& word : words) escaped += (escaped.empty() ? "" : " ") + zsh_text(word);
    return option.is_positional ? "(" + escaped + ")" : "_sequence compadd - " + joined(words);
}

std::string zsh() {
    std::string text =
        "#compdef abortscope\n# made by `abortscope completion zsh`\n"
        "_abortscope() {\n  local curcontext=$curcontext state line\n"
        "  _arguments -C '1:command:->command' '*::argument:->arguments'\n"
        "  case $state in\n    command)\n      local -a commands=(\n";
    for (const Command& command : commands()) {
        text += fmt::format("        '{}:{}'\n", command.name, zsh_text(command.summary));
    }
    text +=
        "      )\n      _describe command commands\n      ;;\n    arguments)\n"
        "      case $words[1] in\n";
    for_each_command([&](const Command& command, const CLI::App& app) {
        text += fmt::format("        {})\n          _arguments", command.name);
        for (const OptionView& option : options_of(app)) {
            if (option.is_positional) {
                text += fmt::format(" \\\n            ':{}:{}'", option.name, zsh_values(option));
            } else {
                const std::string value =
                    option.value.empty() ? ""
                                         : fmt::format(":{}:{}", option.value, zsh_values(option));
                text += fmt::format(" \\\n            '{}[{}]{}'", option.long_name,
                                    zsh_text(option.help), value);
            }
        }
        text += "\n          ;;\n";
    });
    return text + "      esac\n      ;;\n  esac\n}\n_abortscope \"$@\"\n";
}

// ---- fish ----

std::string fish_text(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') result += '\\';
        result += letter;
    }
    return "'" + result + "'";
}

std::string fish() {
    std::string text =
        "# fish completion for abortscope; made by `abortscope completion fish`\n"
        "complete -c abortscope -f\n";
    for (const Command& command : commands()) {
        text += fmt::format("complete -c abortscope -n __fish_use_subcommand -a {} -d {}\n",
                            command.name, fish_text(command.summary));
    }
    for_each_command([&](const Command& command, const CLI::App& app) {
        const std::string start =
            fmt::format("complete -c abortscope -n '__fish_seen_subcommand_from {}'", command.name);
        for (const OptionView& option : options_of(app)) {
            const Words words = words_for(option);
            text += start;
            if (!option.short_name.empty()) text += " -s " + option.short_name.substr(1);
            if (!option.long_name.empty()) text += " -l " + option.long_name.substr(2);
            if (takes_file(option)) {
                text += option.is_positional ? " -F" : " -r -F";
            } else if (!option.value.empty()) {
                text += " -x";
            }
            if (!words.empty()) text += " -a " + fish_text(joined(words));
            text += " -d " + fish_text(option.help) + '\n';
        }
    });
    return text;
}

int print(const std::string& shell) {
    if (shell == "bash") {
        Output::standard().write(bash());
    } else if (shell == "zsh") {
        Output::standard().write(zsh());
    } else if (shell == "fish") {
        Output::standard().write(fish());
    } else if (shell.empty()) {
        throw UsageError("which shell? bash, zsh or fish");
    } else {
        throw UsageError(unknown_name("shell", shell, shells));
    }
    return exit_code::done;
}

}  // namespace

Action declare_completion(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "bash, zsh or fish")->type_name("");
    app.footer("For this shell alone: source <(abortscope completion bash)");
    return [shell] { return print(*shell); };
}

}  // namespace abortscope::cli
