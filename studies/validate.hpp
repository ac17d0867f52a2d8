// SPDX-License-Identifier: Apache-2.0
//
// The model beside published measurements of hardware: one row an experiment.
//
// A row gates (its verdict counts) only if its figure has a source that was read; figures from
// memory are shown and judge nothing. Sources are spelled out in docs/model.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace abortscope {

struct Validation {
    std::string machine;
    std::string experiment;
    std::string unit;
    double published = 0;
    double model = 0;
    /// How far the model may be off, in units of the figure; 0: must be equal.
    double allowed = 0;
    std::string source;
    bool sourced = false;  ///< otherwise from memory: shown, never a verdict
    std::string remark;    ///< the mechanism behind it, or why it is missed

    double error() const { return model - published; }
    bool holds() const { return error() <= allowed && error() >= -allowed; }
};

/// Runs every experiment; a minute or less. Deterministic.
std::vector<Validation> validate();

/// As a table, for a terminal of that width or as Markdown.
std::string validation_text(const std::vector<Validation>& rows, std::size_t width);
std::string validation_markdown(const std::vector<Validation>& rows);

}  // namespace abortscope
