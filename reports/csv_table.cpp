// SPDX-License-Identifier: Apache-2.0
#include "reports/csv_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "profiler/columns.hpp"
#include "profiler/errors.hpp"
#include "profiler/nearest.hpp"

namespace abortscope {
namespace {

[[noreturn]] void fail(const std::string& name, std::size_t line, std::string_view what) {
    throw IoError(fmt::format("{}, line {}: {}", name, line, what));
}

/// The place of the first byte that is not UTF-8 (RFC 3629, but surrogates pass).
std::optional<std::size_t> first_bad_byte(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        std::size_t length = 1;
        if (lead >= 0xf0 && lead <= 0xf4) {
            length = 4;
        } else if (lead >= 0xe0 && lead < 0xf0) {
            length = 3;
        } else if (lead >= 0xc2 && lead < 0xe0) {
            length = 2;
        } else if (lead >= 0x80) {
            return i;
        }
        for (std::size_t next = 1; next < length; ++next) {
            const bool follows = i + next < text.size() &&
                                 (static_cast<unsigned char>(text[i + next]) & 0xc0u) == 0x80u;
            if (!follows) return i;
        }
        i += length;
    }
    return std::nullopt;
}

std::size_t line_of(std::string_view text, std::size_t place) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(place);
    return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// Splits RFC 4180 records, one a call.
class Records {
  public:
    Records(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    bool next(std::vector<std::string>& fields) {
        fields.clear();
        if (place_ == text_.size()) return false;
        line_ = next_line_;
        while (true) {
            fields.push_back(field());
            if (place_ < text_.size() && text_[place_] == ',') {
                ++place_;
                continue;
            }
            end_record();
            return true;
        }
    }

    /// Of the record that `next` gave last.
    std::size_t line() const { return line_; }

  private:
    std::string field() {
        if (place_ < text_.size() && text_[place_] == '"') return quoted_field();
        const std::size_t end = std::min(text_.find_first_of(",\r\n", place_), text_.size());
        std::string field(text_.substr(place_, end - place_));
        place_ = end;
        return field;
    }

    std::string quoted_field() {
        std::string field;
        for (++place_; place_ < text_.size(); ++place_) {
            if (text_[place_] == '\n') ++next_line_;
            if (text_[place_] != '"') {
                field += text_[place_];
            } else if (place_ + 1 < text_.size() && text_[place_ + 1] == '"') {
                field += '"';
                ++place_;
            } else {
                ++place_;
                return field;
            }
        }
        fail(name_, line_, "a quote is not closed: the file is cut off or no CSV");
    }

    void end_record() {
        if (place_ < text_.size() && text_[place_] == '\r') ++place_;
        if (place_ < text_.size() && text_[place_] != '\n') {
            fail(name_, line_, "a letter after a closing quote: this is no CSV");
        }
        if (place_ < text_.size()) ++place_;
        ++next_line_;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t place_ = 0;
    std::size_t line_ = 1;
    std::size_t next_line_ = 1;
};

constexpr std::string_view first_column = "schema_version";
constexpr std::string_view first_result = "duration_ns";

bool is_known(std::string_view column) {
    return index_of(fixed_columns(), column) != fixed_columns().size();
}

}  // namespace

CsvTable CsvTable::parse(std::string_view text, std::string name) {
    CsvTable table;
    table.name_ = std::move(name);
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (text.empty()) throw IoError(fmt::format("{} is empty", table.name_));
    if (const auto bad = first_bad_byte(text)) {
        fail(table.name_, line_of(text, *bad), "this is not UTF-8 text");
    }
    Records records(text, table.name_);
    std::vector<std::string> fields;
    std::vector<std::size_t> places;
    while (records.next(fields)) {
        if (fields.size() == 1 && fields[0].empty()) continue;  // a blank line
        if (fields[0] == first_column) {
            places = table.take_header(fields, records.line());
        } else if (places.empty()) {
            fail(table.name_, records.line(),
                 "no header: the first column of rows from abortscope is schema_version");
        } else {
            table.take_row(std::move(fields), places, records.line());
        }
    }
    if (table.rows_.empty()) throw IoError(fmt::format("{} has a header and no rows", table.name_));
    if (!text.ends_with('\n')) {
        table.notes_.push_back(
            fmt::format("{} does not end in a line break: it may be cut off", table.name_));
    }
    return table;
}

CsvTable CsvTable::read(const std::string& path) {
    const bool is_standard = path == "-";
    const int descriptor = is_standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    int error = descriptor < 0 ? errno : 0;
    while (error == 0) {
        char buffer[1 << 16];
        const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
        if (count == 0) break;
        if (count < 0) {
            error = errno == EINTR ? 0 : errno;
            continue;
        }
        text.append(buffer, static_cast<std::size_t>(count));
    }
    if (descriptor >= 0 && !is_standard) close(descriptor);
    if (error != 0) throw IoError(fmt::format("cannot read {}: {}", path, std::strerror(error)));
    return parse(text, is_standard ? "standard input" : path);
}

std::vector<std::size_t> CsvTable::take_header(const std::vector<std::string>& fields,
                                               std::size_t line) {
    const auto result = std::find(fields.begin(), fields.end(), first_result);
    if (std::find(fields.begin(), fields.end(), "scenario") == fields.end() ||
        result == fields.end()) {
        fail(name_, line, "the header has no scenario or no duration_ns: it is cut off");
    }
    std::vector<std::size_t> places;
    for (auto field = fields.begin(); field != fields.end(); ++field) {
        if (std::find(fields.begin(), field, *field) != field) {
            fail(name_, line, fmt::format("the column {} is there twice", in_quotes(*field)));
        }
        std::optional<std::size_t> place = place_of(*field);
        if (!place) {
            place = columns_.size();
            columns_.push_back(*field);
            if (field < result && !is_known(*field)) parameters_.push_back(*field);
        }
        places.push_back(*place);
    }
    return places;
}

void CsvTable::take_row(std::vector<std::string> fields, const std::vector<std::size_t>& places,
                        std::size_t line) {
    if (fields.size() != places.size()) {
        fail(name_, line,
             fmt::format("{} fields where the header has {}: the line is cut off", fields.size(),
                         places.size()));
    }
    std::uint64_t version = 0;
    const char* end = fields[0].data() + fields[0].size();
    if (std::from_chars(fields[0].data(), end, version).ptr != end || version == 0) {
        fail(name_, line,
             fmt::format("the schema version is {}, not a whole number from 1 on",
                         in_quotes(fields[0])));
    }
    if (version > schema_version) {
        fail(name_, line,
             fmt::format("schema {} is newer than this abortscope, which knows {}", version,
                         schema_version));
    }
    if (version < schema_version && rows_.empty()) {
        notes_.push_back(fmt::format("{} has the older schema {}", name_, version));
    }
    Row row{line, std::vector<std::string>(columns_.size())};
    for (std::size_t i = 0; i < fields.size(); ++i) row.cells[places[i]] = std::move(fields[i]);
    rows_.push_back(std::move(row));
}

std::optional<std::size_t> CsvTable::place_of(std::string_view column) const {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    if (found == columns_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns_.begin());
}

bool CsvTable::has(std::string_view column) const {
    return place_of(column).has_value();
}

const std::string& CsvTable::text(std::size_t row, std::string_view column) const {
    static const std::string nothing;
    const std::optional<std::size_t> place = place_of(column);
    // A later header may have brought columns that earlier rows do not have.
    if (!place || *place >= rows_[row].cells.size()) return nothing;
    return rows_[row].cells[*place];
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view column) const {
    const std::string& cell = text(row, column);
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const char* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value)) {
        fail(name_, rows_[row].line,
             fmt::format("{} in the column {} is no number", in_quotes(cell), column));
    }
    return value;
}

}  // namespace abortscope
