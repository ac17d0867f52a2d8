// SPDX-License-Identifier: Apache-2.0
#include "cli/color.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"

namespace abortscope::cli {
namespace {

enum class When : unsigned char { automatic, always, never };

// One command line a process.
When when = When::automatic;

void choose(const std::string& word) {
    if (word == "auto") {
        when = When::automatic;
    } else if (word == "always") {
        when = When::always;
    } else if (word == "never") {
        when = When::never;
    } else {
        throw UsageError(
            fmt::format("--color takes auto, always or never, not {}", in_quotes(word)));
    }
}

bool environment_forbids() {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return (no_color != nullptr && *no_color != '\0') ||
           (terminal != nullptr && std::string_view(terminal) == "dumb");
}

}  // namespace

void declare_color(CLI::App& app) {
    app.add_option_function<std::string>(
           "--color", choose,
           "colours: auto (on a terminal, unless NO_COLOR is set), always, never; default auto")
        ->type_name("WHEN");
}

Paint paint_for(const Output& output) {
    if (when != When::automatic) return Paint(when == When::always);
    return Paint(output.is_terminal() && !environment_forbids());
}

}  // namespace abortscope::cli
