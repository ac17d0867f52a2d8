// SPDX-License-Identifier: Apache-2.0
//
// A table of text: numbers to the right, words to the left, the unit under the name.
//
//     mutation_pct  phase     none  ovs2016  ratio
//                %              ms       ms
//                2  search   78.01    41.40   1.88
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/paint.hpp"

namespace abortscope {

/// What stands in a table where nothing was measured.
inline constexpr std::string_view no_number = "-";

class TextTable {
  public:
    enum class Align : bool { left, right };

    struct Heading {
        std::string name;
        std::string unit;
        Align align = Align::right;
        int rank = 0;  ///< `fit` leaves out rank 1 first, then 2, …; never 0
    };

    explicit TextTable(std::vector<Heading> headings);

    /// One cell per heading; `of_last` is how the last one is painted.
    void add(std::vector<std::string> cells, Tone of_last = Tone::plain);
    void add_blank_line();

    /// Leaves out as many ranks as it takes to be no wider than that, if ranks can do it.
    void fit(std::size_t width);
    /// Breaks the cells of the widest column of words over several lines, to the same end.
    void fold(std::size_t width);

    /// Tables below each other that together say the same: each has the first `keys` columns and as
    /// many of the others, in their order, as fit into the width (one at least).
    std::vector<TextTable> split(std::size_t width, std::size_t keys) const;

    std::size_t rows() const { return rows_.size(); }
    /// Letters of the longest line.
    std::size_t width() const;
    /// Headings and rows, each line ended, none with trailing blanks.
    std::string text(const Paint& paint = {}) const;

    /// The same as a table of GitHub's Markdown: the unit beside the name.
    std::string markdown() const;

  private:
    std::vector<std::size_t> widths() const;

    std::vector<Heading> headings_;
    std::vector<std::vector<std::string>> rows_;  // a blank line has no cells
    std::vector<Tone> tones_;                     // of each row's last cell
};

}  // namespace abortscope
