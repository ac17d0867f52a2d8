// SPDX-License-Identifier: Apache-2.0
//
// abortscope columns: what the columns of the rows mean; also as docs/csv.md and docs/schema.json.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "cli/command.hpp"
#include "profiler/columns.hpp"
#include "profiler/errors.hpp"
#include "reports/columns_page.hpp"
#include "reports/json.hpp"
#include "reports/output.hpp"
#include "reports/text_table.hpp"
#include "scenarios/registry.hpp"

namespace abortscope::cli {
namespace {

struct ColumnsOptions {
    bool markdown = false;
    bool schema = false;
};

std::vector<Column> all_columns() {
    std::vector<const ScenarioInfo*> infos;
    for (const ScenarioEntry& entry : scenarios()) infos.push_back(entry.info);
    return columns_for(infos);
}

std::string as_text(const std::vector<Column>& columns) {
    using enum TextTable::Align;
    TextTable table(std::vector<TextTable::Heading>{
        {"column", "", left}, {"unit", "", left}, {"meaning", "", left}});
    for (const Column& column : columns) {
        table.add({std::string(column.name), std::string(column.unit), std::string(column.help)});
    }
    return table.text();
}

int show(const ColumnsOptions& options) {
    if (options.markdown && options.schema) {
        throw UsageError("--markdown and --json-schema exclude each other");
    }
    Output output = Output::standard();
    if (options.markdown) {
        output.write(columns_page());
    } else if (options.schema) {
        output.write(json_schema());
    } else {
        output.print(as_text(all_columns()));
    }
    return exit_code::done;
}

}  // namespace

Action declare_columns(CLI::App& app) {
    auto options = std::make_shared<ColumnsOptions>();
    app.add_flag("--markdown", options->markdown, "as docs/csv.md");
    app.add_flag("--json-schema", options->schema, "the schema of --json, as docs/schema.json");
    return [options] { return show(*options); };
}

}  // namespace abortscope::cli
