// SPDX-License-Identifier: Apache-2.0
#include "reports/region_csv.hpp"

#include "profiler/columns.hpp"
#include "reports/csv.hpp"
#include "reports/output.hpp"

namespace abortscope {

std::string region_csv() {
    std::string text = csv_header(fixed_columns());
    for (const Measurement& row : region_rows()) text += csv_line(fixed_columns(), row);
    return text;
}

void write_region_csv(const std::string& path) {
    write_whole(path, region_csv());
}

}  // namespace abortscope
