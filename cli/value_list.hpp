// SPDX-License-Identifier: Apache-2.0
//
// Lists and numbers of the command line, split and checked by us: CLI11 would take the next word
// for a further element, and its range messages quote the machine's limits.
//
// Every error is a UsageError of one line that names the option, what was typed, and what may be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/scenario.hpp"

namespace abortscope::cli {

/// What a number may be.
struct Range {
    std::int64_t minimum;
    std::int64_t maximum;
};

/// "1,2,4". Empty elements and elements named twice are refused.
std::vector<std::string> split_list(std::string_view option, std::string_view text);

std::int64_t parse_integer(std::string_view option, std::string_view text, Range range);
std::vector<std::int64_t> parse_integers(std::string_view option, std::string_view text,
                                         Range range);

/// "0.5,1,1.5": decimal numbers above 0 and up to `maximum`.
std::vector<double> parse_ratios(std::string_view option, std::string_view text, double maximum);

/// Elements that must be among `names`; `kind` is what they are ("policy").
std::vector<std::string> parse_names(std::string_view option, std::string_view kind,
                                     std::string_view text,
                                     std::span<const std::string_view> names);

/// The values of a scenario's parameter: numbers in its range, or its words as their indices.
std::vector<std::int64_t> parse_values(std::string_view option, const ParameterSpec& parameter,
                                       std::string_view text);

/// A seed: any number of 64 bits.
std::uint64_t parse_seed(std::string_view option, std::string_view text);

/// "3/16": a share's number from 1, and of how many.
struct Shard {
    std::uint64_t number = 1;
    std::uint64_t count = 1;
};
Shard parse_shard(std::string_view option, std::string_view text);

}  // namespace abortscope::cli
