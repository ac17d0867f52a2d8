// SPDX-License-Identifier: Apache-2.0
#include "reports/html/trial_details.hpp"

#include <nlohmann/json.hpp>

#include "reports/hot_lines_table.hpp"

namespace abortscope {
namespace {

using Json = nlohmann::ordered_json;

Json line_json(const HotLine& line) {
    const std::uint64_t clashing = line.conflicts - line.false_sharing;
    Json json;
    json["object"] = line.object;
    json["kind"] = kind_of(line);
    json["true_sharing"] = line.is_lock ? 0 : clashing;
    json["false_sharing"] = line.false_sharing;
    json["lock_word"] = (line.is_lock ? clashing : 0) + line.lock_busy;
    json["capacity"] = line.capacity;
    json["uses"] = uses_of(line);
    return json;
}

}  // namespace

TrialDetails details_of(const TrialResult& result, std::size_t first_row) {
    return {first_row, result.hot_lines, result.capacity_map, result.capacity_map_ways};
}

std::string details_json(std::span<const TrialDetails> trials) {
    Json all = Json::array();
    for (const TrialDetails& trial : trials) {
        Json json;
        json["row"] = trial.first_row;
        json["lines"] = Json::array();
        for (const HotLine& line : trial.hot_lines) json["lines"].push_back(line_json(line));
        json["ways"] = trial.ways;
        json["sets"] = trial.ways == 0 ? 0 : trial.capacity_map.size() / trial.ways;
        json["overflows"] = Json::array();  // [set, way, aborts], those that are not 0
        for (std::size_t place = 0; place < trial.capacity_map.size(); ++place) {
            if (trial.capacity_map[place] == 0) continue;
            json["overflows"].push_back(
                {place / trial.ways, place % trial.ways, trial.capacity_map[place]});
        }
        all.push_back(std::move(json));
    }
    return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace abortscope
