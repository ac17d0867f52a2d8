// SPDX-License-Identifier: Apache-2.0
//
// A publication's figures, published beside measured, and the verdicts on its shapes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "reports/context.hpp"
#include "studies/reproduce/publication.hpp"

namespace abortscope::reproduce {

/// For a terminal of that width.
std::string reproduction_text(const Publication& publication, const Measured& measured,
                              std::size_t width);
/// As a section of a Markdown page.
std::string reproduction_markdown(const Publication& publication, const Measured& measured);

struct Reproduction {
    const Publication* publication;
    Measured measured;
};

/// As one self-contained page, with a chart of the ratios of each table.
std::string reproduction_html(std::span<const Reproduction> reproductions,
                              const ReportContext& context);

}  // namespace abortscope::reproduce
