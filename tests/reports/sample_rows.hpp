// SPDX-License-Identifier: Apache-2.0
//
// Made-up rows of ovs-hmap at 2 and 10 % mutation for the tests of reports.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "profiler/columns.hpp"

namespace abortscope {

struct SampleRows {
    static constexpr std::array<ParameterSpec, 2> parameters{
        {{.name = "mutation_pct", .option = "mutation", .help = "share of removals"},
         {.name = "n", .option = "n", .help = "elements"}}};

    SampleRows(const std::vector<std::string>& policies, unsigned repeats) {
        const ScenarioInfo* scenarios[] = {&info};
        columns = columns_for(scenarios);
        for (const std::int64_t mutation : {2, 10}) {
            for (const std::string& policy : policies) {
                for (unsigned repeat = 0; repeat < repeats; ++repeat) {
                    rows.push_back(row_of("insert", mutation, policy, repeat));
                    rows.push_back(row_of("search", mutation, policy, repeat));
                }
            }
        }
    }

    ScenarioInfo info{.name = "ovs-hmap", .parameters = parameters};
    std::vector<Column> columns;
    std::vector<Measurement> rows;

  private:
    static Measurement row_of(const std::string& phase, std::int64_t mutation,
                              const std::string& policy, unsigned repeat) {
        const bool elided = policy != "none";
        const bool search = phase == "search";
        const auto level = static_cast<std::uint64_t>(mutation);
        Measurement row;
        row.scenario = "ovs-hmap";
        row.phase = phase;
        row.machine = "model:haswell";
        row.lock = "fat-rwlock";
        row.policy = policy;
        row.threads = 4;
        row.cpus = 8;
        row.seed = 1 + repeat;
        row.repeat = repeat;
        row.parameters = {{"mutation_pct", mutation, {}}, {"n", 200'000, {}}};
        row.time_source = Provenance::model;
        row.cause_source = Provenance::model;
        if (!search) {
            row.duration_ns = 141'000'000;
        } else if (elided) {
            row.duration_ns = mutation == 2 ? 390'000'000 : 780'000'000;
        } else {
            row.duration_ns = mutation == 2 ? 780'000'000 : 2'340'000'000;
        }
        row.worker_operations.assign(search ? 4 : 1, 200'000);
        row.log.emplace();
        if (search) {
            AbortLog& log = *row.log;
            log.acquisitions = 800'000;
            log.fallbacks = elided ? 8'000 : 800'000;
            log.elided = log.acquisitions - log.fallbacks;
            if (elided) {
                log.attempts = 800'000;
                const std::uint64_t aborts = mutation == 2 ? 40'000 : 80'000;
                log.causes[0] = aborts / 4 * 3;
                log.causes[3] = aborts / 4;
                log.commits = log.attempts - aborts;
            }
        }
        for (std::size_t i = 0; i < counter_count; ++i) {
            row.counters[i] =
                Reading::of(elided && search ? 1000 * level + i : 0, Provenance::model);
        }
        return row;
    }
};

}  // namespace abortscope
