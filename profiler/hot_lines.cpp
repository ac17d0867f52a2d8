// SPDX-License-Identifier: Apache-2.0
#include "profiler/hot_lines.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "machines/model/engine.hpp"

namespace abortscope {
namespace {

using Entry = std::pair<model::LineId, const model::LineHistory*>;

/// The byte that names the line: the first one written, or touched.
std::uint64_t telling_offset(model::LineId line, const model::LineHistory& history) {
    std::uint64_t written = 0;
    std::uint64_t touched = 0;
    for (const model::LineParty& party : history.parties) {
        written |= party.written;
        touched |= party.read | party.written;
    }
    const std::uint64_t start = std::uint64_t{line} * model::line_bytes;
    if (history.lock_busy > history.conflicts && history.lock / model::line_bytes == line) {
        return history.lock;
    }
    const std::uint64_t mask = written != 0 ? written : touched;
    return start + (mask != 0 ? static_cast<unsigned>(std::countr_zero(mask)) : 0u);
}

}  // namespace

std::vector<HotLine> hot_lines_of(const model::Engine& engine, std::size_t most) {
    std::vector<Entry> order;
    for (const auto& [line, history] : engine.attribution().lines()) {
        order.emplace_back(line, &history);
    }
    std::sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
        const std::uint64_t left = a.second->aborts();
        const std::uint64_t right = b.second->aborts();
        return left != right ? left > right : a.first < b.first;
    });
    if (order.size() > most) order.resize(most);

    std::vector<HotLine> lines;
    for (const auto& [line, history] : order) {
        HotLine& hot = lines.emplace_back();
        hot.object = engine.arena().name_of(telling_offset(line, *history));
        if (history->lock != model::no_offset) hot.lock = engine.arena().name_of(history->lock);
        hot.aborts = history->aborts();
        hot.is_lock = history->lock_word * 2 > hot.aborts;
        hot.conflicts = history->conflicts;
        hot.false_sharing = history->false_sharing;
        hot.capacity = history->capacity;
        hot.lock_busy = history->lock_busy;
        hot.victim_site = history->victim_site;
        hot.killer_site = history->killer_site;
        for (const model::LineParty& party : history->parties) {
            hot.uses.push_back({party.worker, party.read, party.written, party.killed, party.died});
        }
        std::sort(hot.uses.begin(), hot.uses.end(),
                  [](const LineUse& a, const LineUse& b) { return a.worker < b.worker; });
    }
    return lines;
}

}  // namespace abortscope
