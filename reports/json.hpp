// SPDX-License-Identifier: Apache-2.0
//
// Rows as JSON: raw repeats with the columns' names, after what they mean and how they were made.
// docs/schema.json describes it, and is generated from the same column table.
//
//     {
//       "schema_version": 1,
//       "command": "abortscope run ovs-hmap --mutation 2,5,10",
//       "build": {"version": "0.1.0", ...}, "host": {"cpu": ..., ...},
//       "columns": [{"name": "duration_ns", "unit": "ns", "group": "results", ...}, ...],
//       "rows": [{"scenario": "ovs-hmap", ..., "tx_start": null, ...}, ...],
//       "absent": [{}, {"tx_start": "no PMU in this VM", ...}, ...]
//     }
//
// Numbers are those of the CSV, digit for digit. An absent one is null; `absent` has, for each
// row, the reasons of its counters.
#pragma once

#include <span>
#include <string>

#include "profiler/columns.hpp"
#include "reports/context.hpp"

namespace abortscope {

std::string json_report(std::span<const Measurement> rows, std::span<const Column> columns,
                        const ReportContext& context);

/// The JSON Schema (2020-12) of what `json_report` writes, for any scenarios.
std::string json_schema();

}  // namespace abortscope
