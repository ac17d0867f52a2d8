// SPDX-License-Identifier: Apache-2.0
//
// The part of a command line that says which trials: the scenario, and a list for each thing that
// can vary. Shared by the commands that run sweeps.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "profiler/sweep.hpp"

namespace abortscope::cli {

/// What a command's sweep does where the command line says nothing.
struct SweepDefaults {
    enum class Policies : unsigned char {
        of_the_scenario,  ///< on a machine without RTM only the one that does not elide
        one_that_elides,  ///< the scenario's first one that does, or the first of all
        all,
    };
    Policies policies = Policies::of_the_scenario;
    unsigned repeats = 1;
};

class SweepOptions {
  public:
    explicit SweepOptions(SweepDefaults defaults = {});

    /// Declares the options; this object must outlive the parsing.
    void declare(CLI::App& app);

    /// All trials, in order, each of which can run. Throws UsageError, or CannotMeasure before
    /// anything has run. What was decided for the user is told in `notes()`.
    std::vector<Trial> trials();

    const std::vector<std::string>& notes() const { return notes_; }

    /// The scenario that was named. Throws UsageError.
    const ScenarioEntry& scenario() const;

    unsigned jobs() const;

  private:
    std::vector<std::vector<std::int64_t>> parameter_values(const ScenarioInfo& info) const;
    std::vector<std::string> locks_for(const ScenarioInfo& info) const;
    std::vector<std::string> policies_for(const ScenarioInfo& info, const std::string& machine);

    std::vector<unsigned> threads_for(const ScenarioInfo& info) const;
    /// The workers of each commit ratio on that many CPUs of a machine.
    std::vector<unsigned> committed_threads(unsigned cpus) const;

    std::string overrides_for(const std::string& machine) const;

    std::string scenario_;
    std::string machine_;
    std::string sockets_;
    std::string cores_;
    std::string smt_;
    std::string lock_;
    std::string policy_;
    std::string threads_;
    std::string commit_ratio_;
    std::string cpus_;
    std::string seed_ = "1";
    std::string repeat_;
    std::string jobs_;
    std::string shard_ = "1/1";
    std::vector<std::string> set_;
    std::map<std::string, std::string> by_option_;  ///< option of a parameter -> its list
    std::vector<std::string> notes_;

    SweepDefaults defaults_;

    struct Row;
    static const Row rows[];
};

}  // namespace abortscope::cli
