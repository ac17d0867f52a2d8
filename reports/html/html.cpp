// SPDX-License-Identifier: Apache-2.0
#include "reports/html/html.hpp"

#include <array>
#include <string_view>

#include "reports/grouping.hpp"
#include "reports/html/page.hpp"
#include "reports/json.hpp"
#include "reports/title.hpp"

namespace abortscope {

std::string html_report(std::span<const Measurement> rows, std::span<const Column> columns,
                        const ReportContext& context, std::span<const TrialDetails> trials) {
    const std::string title =
        rows.empty() ? "No rows" : title_of(Grouping(rows, columns), rows.front());
    static constexpr std::array<std::string_view, 5> scripts{"data.js", "charts.js", "lines.js",
                                                             "rows.js", "report.js"};
    return html_page({"report.html", scripts}, title, json_report(rows, columns, context),
                     details_json(trials));
}

}  // namespace abortscope
