// SPDX-License-Identifier: Apache-2.0
#include "profiler/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace abortscope {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string_view nearest(std::string_view typed, std::span<const std::string_view> names) {
    // An edit distance costs the product of the lengths: nobody mistypes by thousands of letters.
    constexpr std::size_t longest_sensible = 100;
    if (typed.empty() || typed.size() > longest_sensible) return {};
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, typed.size() / 3) + 1;
    for (const std::string_view name : names) {
        const std::size_t distance = edit_distance(typed, name);
        // Two letters away from a word of two letters is any word.
        if (distance < best_distance && distance < std::max(typed.size(), name.size())) {
            best = name;
            best_distance = distance;
        }
    }
    if (!best.empty()) return best;
    for (const std::string_view name : names) {
        if (name.starts_with(typed)) return name;
    }
    return {};
}

std::string unknown_name(std::string_view kind, std::string_view typed,
                         std::span<const std::string_view> names) {
    const std::string start = fmt::format("unknown {} {}", kind, in_quotes(typed));
    const std::string_view near = nearest(typed, names);
    if (!near.empty()) return fmt::format("{}; did you mean '{}'?", start, near);
    return fmt::format("{}; there are: {}", start, fmt::join(names, ", "));
}

std::string in_quotes(std::string_view typed) {
    constexpr std::size_t most = 40;
    std::string text;
    for (const char letter : typed) {
        const auto byte = static_cast<unsigned char>(letter);
        text += byte < 0x20 || byte >= 0x7f ? '?' : letter;
    }
    if (text.size() > most) text = text.substr(0, most - 10) + "..." + text.substr(text.size() - 7);
    return "'" + text + "'";
}

}  // namespace abortscope
