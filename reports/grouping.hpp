// SPDX-License-Identifier: Apache-2.0
//
// Rows sorted for reading: levels down, policies across, seeds and repeats as the sample.
//
// A level is everything that was set for a trial but the policy: machine, lock, threads, CPUs and
// parameters. What is the same in all rows is told once; what varies names the level.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiler/columns.hpp"

namespace abortscope {

using Sample = std::vector<const Measurement*>;

class Grouping {
  public:
    /// Both must outlive the grouping.
    Grouping(std::span<const Measurement> rows, std::span<const Column> columns);

    /// The columns that name a level, and those that are the same in every row and not empty.
    const std::vector<Column>& varying() const { return varying_; }
    const std::vector<Column>& constant() const { return constant_; }

    /// In the order in which the rows first name them. A level is the values of `varying()`.
    const std::vector<std::vector<std::string>>& levels() const { return levels_; }
    const std::vector<std::string>& phases() const { return phases_; }
    const std::vector<std::string>& policies() const { return policies_; }

    /// `none` where it was run, otherwise the first policy.
    const std::string& baseline() const;

    /// The repeats at that point; empty where the trial has no such phase.
    const Sample& sample(std::size_t level, std::string_view phase, std::string_view policy) const;

    /// The most repeats of any point.
    std::size_t repeats() const;

  private:
    std::vector<Column> varying_;
    std::vector<Column> constant_;
    std::vector<std::vector<std::string>> levels_;
    std::vector<std::string> phases_;
    std::vector<std::string> policies_;
    std::map<std::tuple<std::size_t, std::string, std::string>, Sample> samples_;
};

}  // namespace abortscope
