// SPDX-License-Identifier: Apache-2.0
//
// What happened in one trial of the model, as spans of time of each worker.
//
// Each worker has three tracks. On each of them spans lie beside or inside each other, never
// across: a whole phase, and in it its transactions and its waiting; the locks that it really
// holds; where it runs, and why it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machines/model/attribution.hpp"

namespace abortscope {

enum class SpanKind : std::uint8_t {
    phase,        ///< one phase of the scenario; `what` is its name
    committed,    ///< a transaction; `what` is the lock that it elided
    aborted,      ///< a transaction, up to its abort; likewise
    rollback,     ///< what the abort itself cost
    waits,        ///< for the lock `what`, up to having it
    holds,        ///< the lock `what`, and perhaps more, really taken
    runs,         ///< on the CPU `number`
    preempted,    ///< ready, but on no CPU
    futex_sleep,  ///< on the futex word `what`
    sleeps,       ///< until a timer
};
inline constexpr std::size_t span_kind_count = 10;

enum class TraceTrack : std::uint8_t { work, locks, cpu };
inline constexpr std::size_t trace_track_count = 3;

struct TraceSpan {
    SpanKind kind = SpanKind::phase;
    TraceTrack track = TraceTrack::work;
    unsigned worker = 0;
    std::uint64_t begin_ns = 0;  ///< simulated time since the trial's start
    std::uint64_t end_ns = 0;
    std::uint32_t what = 0;    ///< in `Trace::names`
    std::uint32_t number = 0;  ///< of `Trace::aborts`, from 1; the CPU; how many locks were held
};

struct TraceAbort {
    model::AbortEvent event;
    std::uint64_t time_ns = 0;
    std::uint32_t object = 0;  ///< names; 0: no line was involved
    std::uint32_t victim_lock = 0;
    std::uint32_t killer_lock = 0;
    /// Where the killer was: in a transaction or beside any (work), or with a lock really held;
    /// nothing if it had ended, or there was none.
    std::optional<TraceTrack> killer_track;
};

/// A phase of which not everything was recorded.
struct TraceCut {
    std::string phase;
    std::uint64_t time_ns = 0;  ///< from here on
};

struct Trace {
    unsigned workers = 0;
    std::vector<std::string> names{""};
    std::vector<TraceSpan> spans;  ///< by their beginning, outer ones first
    std::vector<TraceAbort> aborts;
    std::vector<TraceCut> cuts;
    std::size_t limit = 0;  ///< spans of a phase that were recorded at most
};

}  // namespace abortscope
