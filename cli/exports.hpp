// SPDX-License-Identifier: Apache-2.0
//
// The files that a command writes its rows to: several at once, each by one option.
//
// All are known to be writable before anything runs. CSV rows are written as they come, so what is
// done is never lost; the others replace their file whole, at the end. Where one goes to "-",
// standard output carries that alone.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/columns.hpp"
#include "reports/html/trial_details.hpp"
#include "reports/output.hpp"

namespace abortscope::cli {

class Exports {
  public:
    /// Declares the options; this object must outlive the parsing.
    void declare(CLI::App& app);

    /// Something else of the command is written there: no export may go to the same place.
    void also_written(const std::string& path) { others_.push_back(path); }

    /// Throws IoError for what cannot be written, UsageError for two exports to one place.
    void open(std::vector<Column> columns);

    /// What is written where: "--csv out.csv".
    std::vector<std::string> files() const;

    /// Whether the command's own output must not be written.
    bool take_standard_output() const;

    void add(std::span<const Measurement> rows);
    /// The same, with what the HTML page shows of a trial beside its rows.
    void add(const TrialResult& result);
    /// A command's own pages instead of those of the rows.
    struct Pages {
        const std::string* markdown = nullptr;
        const std::string* html = nullptr;
    };
    /// All rows, of which `add` has been given each.
    void finish(std::span<const Measurement> rows, const Pages& pages) const;
    void finish(std::span<const Measurement> rows) const { finish(rows, Pages{}); }

  private:
    struct Row;
    static const Row table[];

    std::string csv_;
    std::string json_;
    std::string markdown_;
    std::string html_;
    std::vector<std::string> others_;
    std::vector<Column> columns_;
    std::optional<Output> csv_output_;
    std::size_t rows_added_ = 0;
    std::vector<TrialDetails> details_;  // for the HTML page
};

}  // namespace abortscope::cli
