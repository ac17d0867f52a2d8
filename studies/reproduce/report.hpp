// SPDX-License-Identifier: Apache-2.0
//
// A publication's figures, published beside measured, and the verdicts on its shapes.
#pragma once

#include <cstddef>
#include <string>

#include "studies/reproduce/publication.hpp"

namespace abortscope::reproduce {

/// For a terminal of that width.
std::string reproduction_text(const Publication& publication, const Measured& measured,
                              std::size_t width);
/// As a section of a Markdown page.
std::string reproduction_markdown(const Publication& publication, const Measured& measured);

}  // namespace abortscope::reproduce
