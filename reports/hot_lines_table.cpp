// SPDX-License-Identifier: Apache-2.0
#include "reports/hot_lines_table.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "reports/numbers.hpp"
#include "reports/text_table.hpp"

namespace abortscope {
namespace {

using Align = TextTable::Align;

/// Workers by the bytes that they used, as "0-7 by 0-3, 8-15 by 2".
std::string shared_uses(const HotLine& line, std::uint64_t LineUse::*mask) {
    std::map<std::uint64_t, std::vector<unsigned>> workers;
    for (const LineUse& use : line.uses) {
        if (use.*mask != 0) workers[use.*mask].push_back(use.worker);
    }
    std::string text;
    for (const auto& [bytes, group] : workers) {
        if (!text.empty()) text += ", ";
        text += fmt::format("{} by {}", byte_ranges(bytes), number_ranges(group));
    }
    return text;
}

}  // namespace

std::string number_ranges(const std::vector<unsigned>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += last == i ? fmt::format("{}", numbers[i])
                          : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return text;
}

std::string byte_ranges(std::uint64_t mask) {
    std::vector<unsigned> bytes;
    for (unsigned i = 0; i < 64; ++i) {
        if ((mask >> i & 1u) != 0) bytes.push_back(i);
    }
    return number_ranges(bytes);
}

std::string kind_of(const HotLine& line) {
    if (line.is_lock) return "lock word";
    if (line.capacity > line.conflicts) return "capacity";
    return line.false_sharing * 2 > line.conflicts ? "false sharing: pad" : "true sharing";
}

std::string uses_of(const HotLine& line) {
    const std::string written = shared_uses(line, &LineUse::written);
    const std::string read = shared_uses(line, &LineUse::read);
    std::string text;
    if (!written.empty()) text += "written " + written;
    if (!read.empty()) text += (text.empty() ? "read " : "; read ") + read;
    return text;
}

std::string hot_lines_table(std::span<const HotLine> lines, std::uint64_t aborts,
                            const Paint& paint) {
    if (lines.empty()) return "no line caused an abort\n";
    TextTable table({{"line", "", Align::left},
                     {"aborts", ""},
                     {"share", "%"},
                     {"kind", "", Align::left},
                     {"lock elided", "", Align::left, 1}});
    std::string notes;
    for (const HotLine& line : lines) {
        const double share =
            aborts == 0 ? 0.0
                        : 100.0 * static_cast<double>(line.aborts) / static_cast<double>(aborts);
        table.add({line.object, with_thousands(line.aborts), fmt::format("{:.1f}", share),
                   kind_of(line), line.lock});
        const std::string uses = uses_of(line);
        if (!uses.empty()) notes += fmt::format("  {}: bytes {}\n", line.object, uses);
    }
    return table.text(paint) +
           (notes.empty() ? "" : "\nWho used which bytes, by worker:\n" + notes);
}

}  // namespace abortscope
