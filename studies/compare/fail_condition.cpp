// SPDX-License-Identifier: Apache-2.0
#include "studies/compare/fail_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"

namespace abortscope {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(' ');
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

[[noreturn]] void refuse(std::string_view text) {
    throw UsageError(fmt::format(
        "--fail-if takes a condition such as 'abort_rate > +2pp' or 'operations_per_s < -5%', "
        "not {}",
        in_quotes(text)));
}

/// The change as a multiple of the threshold's unit.
double size_of(const Change& change, FailCondition::Unit unit) {
    switch (unit) {
        case FailCondition::Unit::plain:
            return change.delta;
        case FailCondition::Unit::points:
            return change.delta * 100;
        case FailCondition::Unit::percent:
            break;
    }
    if (change.delta == 0) return 0;
    // From nothing, any change is more than any share of it.
    if (!change.ratio) return std::copysign(std::numeric_limits<double>::infinity(), change.delta);
    return (*change.ratio - 1) * 100;
}

}  // namespace

FailCondition FailCondition::parse(std::string_view text) {
    const std::size_t operation = text.find_first_of("<>");
    if (operation == std::string_view::npos) refuse(text);
    FailCondition condition;
    condition.text = text;
    condition.above = text[operation] == '>';
    condition.metric = metric_named(trimmed(text.substr(0, operation)));

    std::string_view number = trimmed(text.substr(operation + 1));
    if (number.ends_with("pp")) {
        condition.unit = Unit::points;
        number.remove_suffix(2);
    } else if (number.ends_with('%')) {
        condition.unit = Unit::percent;
        number.remove_suffix(1);
    }
    number = trimmed(number);
    if (number.starts_with('+')) number.remove_prefix(1);
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, condition.threshold);
    if (error != std::errc{} || stop != end || !std::isfinite(condition.threshold)) refuse(text);
    if (condition.unit == Unit::points && !condition.metric.is_rate) {
        throw UsageError(fmt::format("--fail-if {}: {} is no rate, so 'pp' does not apply; use '%'",
                                     in_quotes(text), condition.metric.column));
    }
    return condition;
}

bool FailCondition::fires(const Change& change, bool strict) const {
    const double size = size_of(change, unit);
    if (above ? size <= threshold : size >= threshold) return false;
    const bool testable = std::min(change.before.repeats, change.after.repeats) >= enough_repeats;
    return strict || !testable || change.is_significant;
}

}  // namespace abortscope
