// SPDX-License-Identifier: Apache-2.0
#include "cli/value_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"

namespace abortscope::cli {
namespace {

/// All of `text` as a decimal number; a number too large for T is none.
template <class T>
std::optional<T> number_in(std::string_view text) {
    T number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

bool is_whole_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view wanted) {
    throw UsageError(fmt::format("{} takes {}, not {}", option, wanted, in_quotes(text)));
}

}  // namespace

std::vector<std::string> split_list(std::string_view option, std::string_view text) {
    std::vector<std::string> elements;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        std::string element(text.substr(start, comma - start));
        if (element.empty()) {
            throw UsageError(
                text.empty() ? fmt::format("{} has no value", option)
                             : fmt::format("{} {} has an empty element", option, in_quotes(text)));
        }
        if (std::find(elements.begin(), elements.end(), element) != elements.end()) {
            throw UsageError(fmt::format("{} names {} twice", option, in_quotes(element)));
        }
        elements.push_back(std::move(element));
        start = comma + 1;
    }
    return elements;
}

std::int64_t parse_integer(std::string_view option, std::string_view text, Range range) {
    const std::string wanted =
        fmt::format("a whole number from {} to {}", range.minimum, range.maximum);
    if (!is_whole_number(text)) refuse(option, text, wanted);
    const std::optional<std::int64_t> number = number_in<std::int64_t>(text);
    if (!number || *number < range.minimum || *number > range.maximum) refuse(option, text, wanted);
    return *number;
}

std::vector<std::int64_t> parse_integers(std::string_view option, std::string_view text,
                                         Range range) {
    std::vector<std::int64_t> numbers;
    for (const std::string& element : split_list(option, text)) {
        numbers.push_back(parse_integer(option, element, range));
    }
    return numbers;
}

std::vector<double> parse_ratios(std::string_view option, std::string_view text, double maximum) {
    std::vector<double> ratios;
    for (const std::string& element : split_list(option, text)) {
        const bool is_decimal = element.find_first_not_of("0123456789.") == std::string::npos;
        const std::optional<double> ratio = is_decimal ? number_in<double>(element) : std::nullopt;
        if (!ratio || *ratio <= 0 || *ratio > maximum) {
            refuse(option, element, fmt::format("a number above 0 and up to {}", maximum));
        }
        ratios.push_back(*ratio);
    }
    return ratios;
}

std::vector<std::string> parse_names(std::string_view option, std::string_view kind,
                                     std::string_view text,
                                     std::span<const std::string_view> names) {
    std::vector<std::string> elements = split_list(option, text);
    for (const std::string& element : elements) {
        if (std::find(names.begin(), names.end(), element) == names.end()) {
            throw UsageError(unknown_name(kind, element, names));
        }
    }
    return elements;
}

std::vector<std::int64_t> parse_values(std::string_view option, const ParameterSpec& parameter,
                                       std::string_view text) {
    if (parameter.words.empty()) {
        return parse_integers(option, text, {parameter.minimum, parameter.maximum});
    }
    std::vector<std::int64_t> indices;
    for (const std::string& element : split_list(option, text)) {
        const auto found = std::find(parameter.words.begin(), parameter.words.end(), element);
        if (found == parameter.words.end()) {
            refuse(option, element, fmt::format("{}", fmt::join(parameter.words, ", ")));
        }
        indices.push_back(found - parameter.words.begin());
    }
    return indices;
}

std::uint64_t parse_seed(std::string_view option, std::string_view text) {
    const std::optional<std::uint64_t> seed = number_in<std::uint64_t>(text);
    if (!seed) refuse(option, text, "a whole number of up to 64 bits");
    return *seed;
}

Shard parse_shard(std::string_view option, std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos) {
        const auto number = number_in<std::uint64_t>(text.substr(0, slash));
        const auto count = number_in<std::uint64_t>(text.substr(slash + 1));
        if (number && count && *number >= 1 && *number <= *count) return {*number, *count};
    }
    refuse(option, text, "a share such as 3/16");
}

}  // namespace abortscope::cli
