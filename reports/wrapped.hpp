// SPDX-License-Identifier: Apache-2.0
//
// Running text in lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace abortscope {

/// Words in lines of at most `width` letters, all but the first indented: the caller has written
/// that many before the first. A longer word has a line of its own. No line feed at the end.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

/// The text with each line that is longer than `width` letters broken between words. What is broken
/// off stands under the line's last field (fields are two blanks or more apart), or a little
/// further in than the line where it has no fields. Escape sequences of colours take no room.
std::string folded(std::string_view text, std::size_t width);

}  // namespace abortscope
