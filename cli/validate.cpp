// SPDX-License-Identifier: Apache-2.0
//
// abortscope validate: the model beside published measurements of hardware.
#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "reports/output.hpp"
#include "studies/validate.hpp"

namespace abortscope::cli {
namespace {

int run(bool markdown) {
    const std::vector<Validation> rows = validate();
    Output output = Output::standard();
    output.write(markdown ? validation_markdown(rows) : validation_text(rows, output.width()));
    const bool missed = std::any_of(rows.begin(), rows.end(), [](const Validation& row) {
        return row.sourced && !row.holds();
    });
    if (missed) note("a figure with a source is missed; docs/model.md says why");
    return missed ? exit_code::failed : exit_code::done;
}

}  // namespace

Action declare_validate(CLI::App& app) {
    auto markdown = std::make_shared<bool>(false);
    app.add_flag("--markdown", *markdown, "as a Markdown table, with sources");
    return [markdown] { return run(*markdown); };
}

}  // namespace abortscope::cli
