// SPDX-License-Identifier: Apache-2.0
#include "reports/csv.hpp"

namespace abortscope {

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string field = "\"";
    for (const char letter : text) {
        if (letter == '"') field += '"';
        field += letter;
    }
    return field + '"';
}

std::string csv_header(std::span<const Column> columns) {
    std::string line;
    for (const Column& column : columns) {
        if (!line.empty()) line += ',';
        line += csv_field(column.name);
    }
    return line + '\n';
}

std::string csv_line(std::span<const Column> columns, const Measurement& row) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i != 0) line += ',';
        line += csv_field(to_text(columns[i].of(row)));
    }
    return line + '\n';
}

}  // namespace abortscope
