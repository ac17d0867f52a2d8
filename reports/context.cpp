// SPDX-License-Identifier: Apache-2.0
#include "reports/context.hpp"

#include <algorithm>
#include <string_view>

namespace abortscope {
namespace {

bool is_plain(char letter) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
    return plain.find(letter) != std::string_view::npos;
}

std::string shell_word(const std::string& word) {
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
    std::string quoted = "'";
    for (const char letter : word) {
        if (letter == '\'') {
            quoted += "'\\''";
        } else {
            quoted += letter;
        }
    }
    return quoted + '\'';
}

}  // namespace

std::string shell_command(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        line += shell_word(word);
    }
    return line;
}

}  // namespace abortscope
