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

}  // namespace abortscope
