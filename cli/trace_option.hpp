// SPDX-License-Identifier: Apache-2.0
//
// --trace FILE: what happened in the one trial that a command runs, for a viewer of traces.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/exports.hpp"
#include "profiler/row.hpp"
#include "profiler/trace/tracer.hpp"
#include "profiler/trial_queue.hpp"

namespace abortscope::cli {

class TraceOption {
  public:
    /// Declares the options; this object must outlive the parsing.
    void declare(CLI::App& app);

    /// Throws UsageError where these trials cannot be traced, IoError where the file cannot be
    /// written. Call it before the exports are opened.
    void prepare(const std::vector<Trial>& trials, Exports& exports);

    /// Where the trace goes; empty: none is recorded.
    const std::string& path() const { return path_; }

    /// Runs a trial, watched if that was asked for.
    TrialQueue::Run runner() const;

    /// After the trial, one of whose rows this is.
    void write(const Measurement& row, bool with_notes);

  private:
    std::string path_;
    std::string limit_;
    std::shared_ptr<Tracer> tracer_;
};

}  // namespace abortscope::cli
