// SPDX-License-Identifier: Apache-2.0
//
// Colours of a terminal, or none: a text is painted only where somebody asked for it.
#pragma once

#include <string>
#include <string_view>

namespace abortscope {

enum class Tone : unsigned char {
    plain,
    heading,  ///< bold
    quiet,    ///< dim: what is not there
    good,     ///< green
    bad,      ///< red
};

/// By default it paints nothing.
class Paint {
  public:
    Paint() = default;
    explicit Paint(bool on) : on_(on) {}

    std::string operator()(Tone tone, std::string_view text) const {
        constexpr std::string_view codes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m"};
        constexpr std::string_view end = "\x1b[0m";
        if (!on_ || tone == Tone::plain || text.empty()) return std::string(text);
        return std::string(codes[static_cast<std::size_t>(tone)]).append(text).append(end);
    }

  private:
    bool on_ = false;
};

}  // namespace abortscope
