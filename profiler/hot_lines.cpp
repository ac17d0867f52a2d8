// SPDX-License-Identifier: Apache-2.0
#include "profiler/hot_lines.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
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

/// "node" of "node+8": what the bytes of one object share.
std::string_view object_name(std::string_view name) {
    if (name.starts_with("0x")) return "0x";  // nobody has named it
    return name.substr(0, name.rfind('+'));
}

std::vector<LineField> fields_of(const model::Arena& arena, model::LineId line,
                                 const std::vector<LineUse>& uses) {
    std::vector<LineField> fields;
    std::uint64_t last_byte = 0;
    for (unsigned byte = 0; byte < model::line_bytes; ++byte) {
        const std::uint64_t bit = std::uint64_t{1} << byte;
        LineField field{arena.name_of(std::uint64_t{line} * model::line_bytes + byte), bit, {}, {}};
        for (const LineUse& use : uses) {
            if ((use.written & bit) != 0) field.writers.push_back(use.worker);
            if ((use.read & bit) != 0) field.readers.push_back(use.worker);
        }
        if (field.writers.empty() && field.readers.empty()) continue;
        const bool goes_on = !fields.empty() && last_byte << 1 == bit &&
                             object_name(fields.back().object) == object_name(field.object) &&
                             fields.back().writers == field.writers &&
                             fields.back().readers == field.readers;
        last_byte = bit;
        if (goes_on) {
            fields.back().bytes |= bit;
        } else {
            fields.push_back(std::move(field));
        }
    }
    return fields;
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
        hot.by_read = history->by_read;
        hot.from_outside = history->from_outside;
        hot.capacity = history->capacity;
        hot.lock_busy = history->lock_busy;
        hot.victim_site = history->victim_site;
        hot.killer_site = history->killer_site;
        for (const model::LineParty& party : history->parties) {
            hot.uses.push_back({party.worker, party.read, party.written, party.killed, party.died});
        }
        std::sort(hot.uses.begin(), hot.uses.end(),
                  [](const LineUse& a, const LineUse& b) { return a.worker < b.worker; });
        hot.fields = fields_of(engine.arena(), line, hot.uses);
    }
    return lines;
}

}  // namespace abortscope
