// SPDX-License-Identifier: Apache-2.0
#include "reports/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace abortscope {
namespace {

struct Step {
    double from;  ///< the scale serves if the largest number is at least this
    std::string_view unit;
    double factor;
};

constexpr Step duration_steps[] = {{1e6, "ms", 1e-6}, {1e3, "us", 1e-3}, {0, "ns", 1}};
constexpr Step rate_steps[] = {{1e6, "M/s", 1e-6}, {1e3, "k/s", 1e-3}, {0, "1/s", 1}};

constexpr Step count_steps[] = {{1e7, "M", 1e-6}, {0, "", 1}};

Scale choose(std::span<const Step> steps, double smallest, double largest) {
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [&](const Step& each) { return largest >= each.from; });
    int decimals = 0;
    for (double shown = smallest * step->factor; shown < 100 && decimals < 4; shown *= 10) {
        ++decimals;
    }
    return {std::string(step->unit), step->factor, decimals};
}

}  // namespace

std::string with_thousands(std::uint64_t number) {
    std::string text = fmt::format("{}", number);
    for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
    return text;
}

std::string percent(double share) {
    if (share > 0 && share < 0.0005) return "<0.1";
    return fmt::format("{:.1f}", share * 100);
}

Scale duration_scale(double smallest, double largest) {
    return choose(duration_steps, smallest, largest);
}

Scale rate_scale(double smallest, double largest) {
    return choose(rate_steps, smallest, largest);
}

Scale count_scale(double smallest, double largest, std::string_view unit) {
    Scale scale = choose(count_steps, smallest, largest);
    if (scale.unit.empty()) scale.decimals = 0;  // whole things, or medians of such
    if (!scale.unit.empty() && !unit.empty()) scale.unit += ' ';
    scale.unit += unit;
    return scale;
}

std::string scaled(double number, const Scale& scale) {
    return fmt::format("{:.{}f}", number * scale.factor, scale.decimals);
}

}  // namespace abortscope
