// SPDX-License-Identifier: Apache-2.0
#include "profiler/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace abortscope {
namespace {

using enum ColumnKind;
using enum ColumnGroup;
using Row = Measurement;

template <class T>
Cell cell(const std::optional<T>& value) {
    return value ? Cell{*value} : Cell{};
}

template <Counter C>
Cell counter(const Row& row) {
    return cell(row.counters[index_of(C)].value);
}

template <rtm::Cause C>
Cell cause(const Row& row) {
    if (!row.log) return {};
    return row.log->causes[static_cast<std::size_t>(C)];
}

template <std::size_t Bit>
Cell bit(const Row& row) {
    if (!row.log) return {};
    return row.log->bits[Bit];
}

template <std::uint64_t AbortLog::*Member>
Cell logged(const Row& row) {
    if (!row.log) return {};
    return (*row.log).*Member;
}

/// "0x01:12;0xfd:3"
Cell explicit_codes(const Row& row) {
    if (!row.log) return {};
    std::string text;
    for (std::size_t code = 0; code < row.log->explicit_codes.size(); ++code) {
        const std::uint64_t count = row.log->explicit_codes[code];
        if (count == 0) continue;
        if (!text.empty()) text += ';';
        text += fmt::format("0x{:02x}:{}", code, count);
    }
    return text.empty() ? Cell{} : Cell{text};
}

template <class Choose>
Cell worker_operations(const Row& row, Choose choose) {
    if (row.worker_operations.empty()) return {};
    return *choose(row.worker_operations.begin(), row.worker_operations.end());
}

/// Bare transactions have no lock and no policy: nothing, not an empty name.
Cell name_cell(const std::string& name) {
    return name.empty() ? Cell{} : Cell{name};
}

Cell name_cell(Provenance provenance) {
    return std::string(name_of(provenance));
}

constexpr Column column_table[] = {
    {"schema_version", "", integer, identity, "version of these columns' meaning",
     [](const Row&) { return Cell{schema_version}; }},
    {"scenario", "", text, identity, "the workload", [](const Row& r) { return Cell{r.scenario}; }},
    {"phase", "", text, identity, "its part that this row measures",
     [](const Row& r) { return Cell{r.phase}; }},
    {"machine", "", text, identity, "where it ran: native, or a preset of the model",
     [](const Row& r) { return Cell{r.machine}; }},
    {"lock", "", text, identity, "the lock under test",
     [](const Row& r) { return name_cell(r.lock); }},
    {"policy", "", text, identity, "how the elided lock retries; none is the plain lock",
     [](const Row& r) { return name_cell(r.policy); }},
    {"threads", "", integer, identity, "workers of the trial",
     [](const Row& r) { return Cell{std::uint64_t{r.threads}}; }},
    {"cpus", "", integer, identity, "CPUs that the workers could use",
     [](const Row& r) { return Cell{std::uint64_t{r.cpus}}; }},
    {"seed", "", integer, identity, "the trial's own: repeat k of --seed S has S + k",
     [](const Row& r) { return Cell{r.seed}; }},
    {"repeat", "", integer, identity, "number of the repeat, from 0",
     [](const Row& r) { return Cell{std::uint64_t{r.repeat}}; }},

    {"duration_ns", "ns", integer, results, "from the release of the workers to the last one's end",
     [](const Row& r) {
         return r.time_source == Provenance::absent ? Cell{} : Cell{r.duration_ns};
     }},
    {"operations", "", integer, results, "operations of all workers",
     [](const Row& r) { return r.worker_operations.empty() ? Cell{} : Cell{r.operations()}; }},
    {"operations_per_s", "1/s", real, results, "operations / duration",
     [](const Row& r) { return cell(r.operations_per_s()); }},
    {"acquisitions", "", integer, results,
     "successful calls of lock and try_lock; elided + fallbacks", logged<&AbortLog::acquisitions>},
    {"elided", "", integer, results, "acquisitions whose transaction committed",
     logged<&AbortLog::elided>},
    {"fallbacks", "", integer, results, "acquisitions that really took the lock",
     logged<&AbortLog::fallbacks>},
    {"fallback_rate", "", real, results, "fallbacks / acquisitions",
     [](const Row& r) { return cell(r.fallback_rate()); }},
    {"abort_rate", "", real, results, "aborts / attempts, an attempt being an outermost XBEGIN",
     [](const Row& r) { return cell(r.abort_rate()); }},
    {"wasted_cycles", "cycles", integer, results,
     "in transactions that aborted: cycles_t - cycles_ct",
     [](const Row& r) { return cell(r.wasted_cycles()); }},
    {"longest_fallback_run", "", integer, results, "most real acquisitions in a row by one worker",
     [](const Row& r) { return cell(r.longest_fallback_run()); }},
    {"fallback_after_fallback_rate", "", real, results,
     "fallbacks per acquisition that followed a fallback: the lemming index",
     [](const Row& r) { return cell(r.fallback_after_fallback_rate()); }},
    {"worker_ops_min", "", integer, results, "operations of the worker that did fewest",
     [](const Row& r) {
         return worker_operations(r, [](auto b, auto e) { return std::min_element(b, e); });
     }},
    {"worker_ops_mean", "", real, results, "operations per worker",
     [](const Row& r) { return cell(r.worker_operations_mean()); }},
    {"worker_ops_max", "", integer, results, "operations of the worker that did most",
     [](const Row& r) {
         return worker_operations(r, [](auto b, auto e) { return std::max_element(b, e); });
     }},

    {"tx_start", "", integer, counters, "outermost transactions begun", counter<Counter::tx_start>},
    {"tx_commit", "", integer, counters, "of which committed", counter<Counter::tx_commit>},
    {"tx_abort", "", integer, counters, "of which aborted", counter<Counter::tx_abort>},
    {"tx_conflict", "", integer, counters, "aborts signalled for a data conflict",
     counter<Counter::tx_conflict>},
    {"tx_capacity", "", integer, counters, "aborts signalled for capacity",
     counter<Counter::tx_capacity>},
    {"tx_capacity_read", "", integer, counters, "… of the read set",
     counter<Counter::tx_capacity_read>},
    {"tx_capacity_write", "", integer, counters, "… of the write set",
     counter<Counter::tx_capacity_write>},
    {"abort_mem", "", integer, counters, "aborts by memory events: conflict and capacity",
     counter<Counter::abort_mem>},
    {"abort_timer", "", integer, counters, "aborts by uncommon conditions: the TSX watchdog",
     counter<Counter::abort_timer>},
    {"abort_unfriendly", "", integer, counters,
     "aborts by an instruction that RTM does not support", counter<Counter::abort_unfriendly>},
    {"abort_memtype", "", integer, counters, "aborts by memory that is not write-back",
     counter<Counter::abort_memtype>},
    {"abort_events", "", integer, counters, "aborts by none of these four: interrupts, faults",
     counter<Counter::abort_events>},
    {"cycles", "cycles", integer, counters, "of the workers' CPUs", counter<Counter::cycles>},
    {"cycles_t", "cycles", integer, counters, "… in transactions", counter<Counter::cycles_t>},
    {"cycles_ct", "cycles", integer, counters, "… in transactions that committed",
     counter<Counter::cycles_ct>},
    {"task_clock_ns", "ns", integer, counters, "CPU time of the workers",
     counter<Counter::task_clock_ns>},
    {"context_switches", "", integer, counters, "of the workers",
     counter<Counter::context_switches>},
    {"cpu_migrations", "", integer, counters, "of the workers", counter<Counter::cpu_migrations>},
    {"page_faults", "", integer, counters, "of the workers", counter<Counter::page_faults>},

    {"cause_conflict", "", integer, causes, "aborts by another CPU's access to a tracked line",
     cause<rtm::Cause::conflict>},
    {"cause_capacity", "", integer, causes, "aborts by a tracking buffer that overflowed",
     cause<rtm::Cause::capacity>},
    {"cause_explicit", "", integer, causes, "aborts by XABORT with a code other than 0xff",
     cause<rtm::Cause::explicit_abort>},
    {"cause_lock_busy", "", integer, causes, "aborts by XABORT 0xff: the lock was found taken",
     cause<rtm::Cause::lock_busy>},
    {"cause_nested", "", integer, causes, "aborts of which only bit 5, nested, is known",
     cause<rtm::Cause::nested>},
    {"cause_debug", "", integer, causes, "aborts by a debug exception", cause<rtm::Cause::debug>},
    {"cause_other", "", integer, causes,
     "aborts with status 0: an interrupt, fault, system call or forbidden instruction",
     cause<rtm::Cause::other>},
    {"explicit_codes", "", text, causes, "XABORT codes and their counts: 0x01:12;0xfd:3",
     explicit_codes},

    {"bit_explicit", "", integer, bits, "aborts with status bit 0", bit<0>},
    {"bit_retry", "", integer, bits, "aborts with status bit 1", bit<1>},
    {"bit_conflict", "", integer, bits, "aborts with status bit 2", bit<2>},
    {"bit_capacity", "", integer, bits, "aborts with status bit 3", bit<3>},
    {"bit_debug", "", integer, bits, "aborts with status bit 4", bit<4>},
    {"bit_nested", "", integer, bits, "aborts with status bit 5", bit<5>},

    {"time_source", "", text, sources, "of duration_ns",
     [](const Row& r) { return name_cell(r.time_source); }},
    {"counter_source", "", text, sources, "of the processor's counters (tx_start to cycles_ct)",
     [](const Row& r) { return name_cell(r.counter_source()); }},
    {"cause_source", "", text, sources, "of the causes and bits",
     [](const Row& r) { return name_cell(r.cause_source); }},
    {"counter_running_pct", "%", real, sources, "part of the phase that the counters ran",
     [](const Row& r) { return cell(r.counter_running_pct()); }},
    {"absent_reason", "", text, sources, "why counters are empty",
     [](const Row& r) {
         std::string reason = r.absent_reason();
         return reason.empty() ? Cell{} : Cell{std::move(reason)};
     }},
};

Cell parameter(const Row& row, std::string_view name) {
    for (const ParameterValue& value : row.parameters) {
        if (value.name != name) continue;
        return value.word.empty() ? Cell{value.number} : Cell{std::string(value.word)};
    }
    return {};
}

/// A parameter's name ends in its unit.
struct UnitSuffix {
    std::string_view suffix;
    std::string_view unit;
};

constexpr UnitSuffix unit_suffixes[] = {
    {"_pct", "%"}, {"_ns", "ns"}, {"_us", "us"}, {"_bytes", "bytes"}, {"_cycles", "cycles"}};

constexpr UnitSuffix unit_suffix_of(std::string_view name) {
    for (const UnitSuffix& each : unit_suffixes) {
        if (name.ends_with(each.suffix)) return each;
    }
    return {};
}

}  // namespace

std::string to_text(const Cell& cell) {
    return std::visit(
        [](const auto& value) -> std::string {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return {};
            } else if constexpr (std::is_same_v<T, double>) {
                return fmt::format("{:.9g}", value);
            } else {
                return fmt::format("{}", value);
            }
        },
        cell);
}

Cell Column::of(const Measurement& row) const {
    return get != nullptr ? get(row) : parameter(row, name);
}

std::span<const Column> fixed_columns() {
    return column_table;
}

std::vector<Column> columns_for(std::span<const ScenarioInfo* const> scenarios) {
    std::vector<Column> columns;
    const auto past_identity =
        std::find_if(std::begin(column_table), std::end(column_table),
                     [](const Column& column) { return column.group != identity; });
    columns.assign(std::begin(column_table), past_identity);
    for (const ScenarioInfo* scenario : scenarios) {
        for (const ParameterSpec& spec : scenario->parameters) {
            if (index_of(columns, spec.name) != columns.size()) continue;
            columns.push_back({spec.name, unit_of_parameter(spec.name),
                               spec.words.empty() ? integer : text, parameters, spec.help,
                               nullptr});
        }
    }
    columns.insert(columns.end(), past_identity, std::end(column_table));
    return columns;
}

std::string_view unit_of_parameter(std::string_view name) {
    return unit_suffix_of(name).unit;
}

std::string_view name_without_unit(const Column& column) {
    return column.name.substr(0, column.name.size() - unit_suffix_of(column.name).suffix.size());
}

std::size_t index_of(std::span<const Column> columns, std::string_view name) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const Column& column) { return column.name == name; });
    return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace abortscope
