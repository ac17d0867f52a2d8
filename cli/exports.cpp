// SPDX-License-Identifier: Apache-2.0
#include "cli/exports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/invocation.hpp"
#include "profiler/errors.hpp"
#include "reports/csv.hpp"
#include "reports/html/html.hpp"
#include "reports/json.hpp"
#include "reports/markdown.hpp"

namespace abortscope::cli {

struct Exports::Row {
    const char* option;
    const char* help;
    std::string Exports::*path;
    /// Null for the CSV, which is written row by row.
    std::string (*report)(std::span<const Measurement>, std::span<const Column>,
                          const ReportContext&, std::span<const TrialDetails>);
};

namespace {

using Rows = std::span<const Measurement>;
using Columns = std::span<const Column>;
using Details = std::span<const TrialDetails>;

std::string json_export(Rows rows, Columns columns, const ReportContext& context, Details) {
    return json_report(rows, columns, context);
}

std::string markdown_export(Rows rows, Columns columns, const ReportContext& context, Details) {
    return markdown_report(rows, columns, context);
}

}  // namespace

const Exports::Row Exports::table[] = {
    {"--csv", "write the rows there as they come, as CSV; - for standard output", &Exports::csv_,
     nullptr},
    {"--json", "write rows, command, build and host there, as JSON", &Exports::json_, json_export},
    {"--markdown", "write tables there, as Markdown for a pull request", &Exports::markdown_,
     markdown_export},
    {"--html", "write charts and a table there, as one HTML page", &Exports::html_, html_report},
};

void Exports::declare(CLI::App& app) {
    for (const Row& row : table) {
        app.add_option(row.option, this->*row.path, row.help)->type_name("FILE")->group("Output");
    }
}

void Exports::open(std::vector<Column> columns) {
    std::vector<std::string> paths = others_;
    for (const Row& row : table) {
        const std::string& path = this->*row.path;
        if (path.empty()) continue;
        if (std::find(paths.begin(), paths.end(), path) != paths.end()) {
            throw UsageError(fmt::format("two files go to {}", path));
        }
        paths.push_back(path);
        if (row.report != nullptr) require_writable(path);
    }
    columns_ = std::move(columns);
    if (csv_.empty()) return;
    csv_output_.emplace(Output::open(csv_));
    csv_output_->write(csv_header(columns_));
}

std::vector<std::string> Exports::files() const {
    std::vector<std::string> files;
    for (const Row& row : table) {
        const std::string& path = this->*row.path;
        if (!path.empty()) files.push_back(fmt::format("{} {}", row.option, path));
    }
    return files;
}

bool Exports::take_standard_output() const {
    return std::find(others_.begin(), others_.end(), "-") != others_.end() ||
           std::any_of(std::begin(table), std::end(table),
                       [&](const Row& row) { return this->*row.path == "-"; });
}

void Exports::add(const TrialResult& result) {
    if (!html_.empty()) details_.push_back(details_of(result, rows_added_));
    add(result.rows);
}

void Exports::add(std::span<const Measurement> rows) {
    rows_added_ += rows.size();
    if (!csv_output_) return;
    std::string lines;
    for (const Measurement& row : rows) lines += csv_line(columns_, row);
    csv_output_->write(lines);
}

void Exports::finish(std::span<const Measurement> rows, const Pages& pages) const {
    for (const Row& row : table) {
        const std::string& path = this->*row.path;
        if (path.empty() || row.report == nullptr) continue;
        const std::string* own = row.path == &Exports::markdown_ ? pages.markdown
                                 : row.path == &Exports::html_   ? pages.html
                                                                 : nullptr;
        write_whole(path,
                    own != nullptr ? *own : row.report(rows, columns_, report_context(), details_));
    }
}

}  // namespace abortscope::cli
