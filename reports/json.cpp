// SPDX-License-Identifier: Apache-2.0
#include "reports/json.hpp"

#include <cstdlib>

#include "reports/context_json.hpp"

namespace abortscope {
namespace {

Json json_cell(const Cell& cell) {
    return std::visit(
        [&](const auto& value) -> Json {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return nullptr;
            } else if constexpr (std::is_same_v<T, double>) {
                // The number that the CSV shows, not the one behind it.
                return std::strtod(to_text(cell).c_str(), nullptr);
            } else {
                return value;
            }
        },
        cell);
}

std::string_view type_of(ColumnKind kind) {
    switch (kind) {
        case ColumnKind::integer:
            return "integer";
        case ColumnKind::real:
            return "number";
        case ColumnKind::text:
            break;
    }
    return "string";
}

Json json_column(const Column& column) {
    return {{"name", column.name},
            {"unit", column.unit},
            {"type", type_of(column.kind)},
            {"group", name_of(column.group)},
            {"help", column.help}};
}

/// Identity and sources are told of every row; bare transactions have no lock and no policy, a
/// parameter may not apply, and a number may be absent.
bool is_always_told(const Column& column) {
    if (column.name == "lock" || column.name == "policy") return false;
    return column.group == ColumnGroup::identity || column.name.ends_with("_source");
}

}  // namespace

std::string json_report(std::span<const Measurement> rows, std::span<const Column> columns,
                        const ReportContext& context) {
    Json report;
    report["schema_version"] = schema_version;
    report.update(context_json(context));
    report["columns"] = Json::array();
    for (const Column& column : columns) report["columns"].push_back(json_column(column));
    Json all_rows = Json::array();
    Json all_reasons = Json::array();
    for (const Measurement& row : rows) {
        Json object = Json::object();
        for (const Column& column : columns) {
            object[std::string(column.name)] = json_cell(column.of(row));
        }
        all_rows.push_back(std::move(object));
        Json reasons = Json::object();
        for (std::size_t i = 0; i < counter_count; ++i) {
            const Reading& reading = row.counters[i];
            if (reading.value || reading.absent_reason.empty()) continue;
            reasons[std::string(counter_names[i])] = reading.absent_reason;
        }
        all_reasons.push_back(std::move(reasons));
    }
    report["rows"] = std::move(all_rows);
    report["absent"] = std::move(all_reasons);
    return text_of(report);
}

std::string json_schema() {
    Json properties = Json::object();
    Json required = Json::array();
    for (const Column& column : fixed_columns()) {
        Json property;
        property["description"] = column.help;
        if (!column.unit.empty()) property["unit"] = column.unit;
        if (is_always_told(column)) {
            property["type"] = type_of(column.kind);
        } else {
            property["type"] = {type_of(column.kind), "null"};
        }
        if (column.name.ends_with("_source")) property["enum"] = provenance_names;
        required.push_back(column.name);
        properties[std::string(column.name)] = std::move(property);
    }
    const Json text = {{"type", "string"}};
    const Json facts = {{"type", "object"}, {"additionalProperties", text}};
    Json column_properties = Json::object();
    for (const char* name : {"name", "unit", "type", "group", "help"})
        column_properties[name] = text;

    Json schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = "abortscope report";
    schema["type"] = "object";
    schema["required"] = {"schema_version", "command", "build", "host",
                          "columns",        "rows",    "absent"};
    schema["properties"] = {
        {"schema_version", {{"const", schema_version}}},
        {"command", text},
        {"build", facts},
        {"host", facts},
        {"columns",
         {{"type", "array"},
          {"items",
           {{"type", "object"},
            {"properties", std::move(column_properties)},
            {"required", {"name", "unit", "type", "group", "help"}}}}}},
        {"rows",
         {{"type", "array"},
          {"items",
           {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            // The parameters of the run's scenarios.
            {"additionalProperties", {{"type", {"integer", "string", "null"}}}}}}}},
        {"absent", {{"type", "array"}, {"items", facts}}},
    };
    return text_of(schema);
}

}  // namespace abortscope
