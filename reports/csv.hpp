// SPDX-License-Identifier: Apache-2.0
//
// Rows as comma-separated values (RFC 4180, but lines end in \n): a header, then a line a row.
// An absent number is an empty field.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/columns.hpp"

namespace abortscope {

/// The field, in quotes if it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

std::string csv_header(std::span<const Column> columns);
std::string csv_line(std::span<const Column> columns, const Measurement& row);

}  // namespace abortscope
