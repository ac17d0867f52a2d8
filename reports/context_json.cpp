// SPDX-License-Identifier: Apache-2.0
#include "reports/context_json.hpp"

namespace abortscope {
namespace {

Json json_of(const Facts& facts) {
    Json json = Json::object();
    for (const auto& [name, value] : facts) json[name] = value;
    return json;
}

}  // namespace

Json context_json(const ReportContext& context) {
    Json json;
    json["command"] = shell_command(context.command);
    json["build"] = json_of(context.build);
    json["host"] = json_of(context.host);
    return json;
}

std::string text_of(const Json& json) {
    constexpr int indent = 1;
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace abortscope
