// SPDX-License-Identifier: Apache-2.0
//
// A CSV of rows, read back: for `compare` and whoever else takes files.
//
// Takes what this program of this or an older schema writes, also when files were concatenated
// (each header counts from where it stands), have CRLF line ends or a byte-order mark. Columns that
// a file does not have are empty cells. Everything else is an IoError of one line that names the
// file and the line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace abortscope {

class CsvTable {
  public:
    /// `name` is for messages. Throws IoError.
    static CsvTable parse(std::string_view text, std::string name);
    /// Reads and parses; "-" is standard input. Throws IoError.
    static CsvTable read(const std::string& path);

    const std::string& name() const { return name_; }
    /// Of all headers, each once.
    const std::vector<std::string>& columns() const { return columns_; }
    /// The columns that stand between the identity and the results.
    const std::vector<std::string>& parameters() const { return parameters_; }
    std::size_t rows() const { return rows_.size(); }

    bool has(std::string_view column) const;
    /// Empty where the cell, or the column, is.
    const std::string& text(std::size_t row, std::string_view column) const;
    /// None where it is empty. Throws IoError for what is no number.
    std::optional<double> number(std::size_t row, std::string_view column) const;

    /// What is odd but not wrong: an older schema, a last line that may be cut off.
    const std::vector<std::string>& notes() const { return notes_; }

  private:
    struct Row {
        std::size_t line;
        std::vector<std::string> cells;  // by the place in columns_
    };

    std::optional<std::size_t> place_of(std::string_view column) const;
    std::vector<std::size_t> take_header(const std::vector<std::string>& fields, std::size_t line);
    void take_row(std::vector<std::string> fields, const std::vector<std::size_t>& places,
                  std::size_t line);

    std::string name_;
    std::vector<std::string> columns_;
    std::vector<std::string> parameters_;
    std::vector<Row> rows_;
    std::vector<std::string> notes_;
};

}  // namespace abortscope
