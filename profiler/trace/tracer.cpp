// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/tracer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "machines/model/engine.hpp"
#include "machines/model/heap_guard.hpp"

namespace abortscope {

using model::AbortEvent;
using model::Cycles;
using model::Engine;
using model::HostHeapAllowed;

Tracer::Tracer(unsigned workers, std::size_t limit) : workers_(workers) {
    trace_.workers = workers;
    trace_.limit = limit;
}

/// Workers run ahead of each other by a few cycles, so an abort can reach one that is already a
/// little later than its killer.
std::uint64_t Tracer::advance(Worker& worker, Cycles time) const {
    worker.last_ns = std::max(worker.last_ns, Engine::current()->preset().ns_of_cycles(time));
    return worker.last_ns;
}

std::uint32_t Tracer::name(std::string_view text) {
    const auto [entry, added] =
        name_ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(trace_.names.size()));
    if (added) trace_.names.emplace_back(text);
    return entry->second;
}

std::uint32_t Tracer::object(std::uint64_t offset) {
    return offset == model::no_offset ? 0 : name(Engine::current()->arena().name_of(offset));
}

void Tracer::open(Open& place, SpanKind kind, TraceTrack track, unsigned worker,
                  std::uint64_t time_ns, std::uint32_t what, std::uint32_t number) {
    place.open = true;
    place.span = {kind, track, worker, time_ns, time_ns, what, number};
}

void Tracer::close(Open& place, std::uint64_t time_ns) {
    if (!std::exchange(place.open, false)) return;
    place.span.end_ns = time_ns;
    record(place.span);
}

void Tracer::record(const TraceSpan& span) {
    if (span.kind == SpanKind::phase) {
        trace_.spans.push_back(span);
        return;
    }
    if (full_) return;
    trace_.spans.push_back(span);
    if (++recorded_ < trace_.limit) return;
    // What is open ends where the recording does.
    for (Worker& worker : workers_) {
        for (Open* place : {&worker.waiting, &worker.holding, &worker.on_cpu}) {
            if (!std::exchange(place->open, false)) continue;
            place->span.end_ns = std::max(place->span.begin_ns, span.end_ns);
            trace_.spans.push_back(place->span);
        }
    }
    full_ = true;
    trace_.cuts.push_back({trace_.names[phase_name_], span.end_ns});
}

Trace Tracer::take() {
    for (Worker& worker : workers_) {
        for (Open* place : {&worker.waiting, &worker.holding, &worker.on_cpu, &worker.phase}) {
            close(*place, worker.last_ns);
        }
    }
    std::stable_sort(
        trace_.spans.begin(), trace_.spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
            return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
        });
    return std::move(trace_);
}

void Tracer::phase(std::string_view text) {
    phase_name_ = name(text);
    recorded_ = 0;
    full_ = false;
}

void Tracer::runs(unsigned number, Cycles time, unsigned cpu) {
    const HostHeapAllowed bookkeeping;
    Worker& worker = workers_[number];
    const std::uint64_t now = advance(worker, time);
    if (!worker.phase.open) {
        open(worker.phase, SpanKind::phase, TraceTrack::work, number, now, phase_name_);
    }
    close(worker.on_cpu, now);
    if (!full_) open(worker.on_cpu, SpanKind::runs, TraceTrack::cpu, number, now, 0, cpu);
}

void Tracer::leave_cpu(unsigned number, Cycles time, SpanKind why, std::uint32_t what) {
    Worker& worker = workers_[number];
    const std::uint64_t now = advance(worker, time);
    close(worker.on_cpu, now);
    if (!full_) open(worker.on_cpu, why, TraceTrack::cpu, number, now, what);
}

void Tracer::waits(unsigned worker, Cycles time, std::uint64_t futex) {
    const HostHeapAllowed bookkeeping;
    leave_cpu(worker, time, SpanKind::futex_sleep, object(futex));
}

void Tracer::sleeps(unsigned worker, Cycles time) {
    const HostHeapAllowed bookkeeping;
    leave_cpu(worker, time, SpanKind::sleeps, 0);
}

void Tracer::preempted(unsigned worker, Cycles time) {
    const HostHeapAllowed bookkeeping;
    leave_cpu(worker, time, SpanKind::preempted, 0);
}

void Tracer::ended(unsigned number, Cycles time) {
    const HostHeapAllowed bookkeeping;
    Worker& worker = workers_[number];
    const std::uint64_t now = advance(worker, time);
    for (Open* place : {&worker.waiting, &worker.holding, &worker.on_cpu, &worker.phase}) {
        close(*place, now);
    }
    worker.held = 0;
}

void Tracer::began(unsigned number, Cycles time, std::uint64_t lock) {
    const HostHeapAllowed bookkeeping;
    Worker& worker = workers_[number];
    worker.began_ns = advance(worker, time);
    worker.in_transaction = true;
    worker.elided = object(lock);
    close(worker.waiting, worker.began_ns);
}

void Tracer::taken_back(unsigned number, Cycles settled, std::uint64_t /*accesses*/) {
    Worker& worker = workers_[number];
    const std::uint64_t settled_ns = Engine::current()->preset().ns_of_cycles(settled);
    worker.last_ns = std::min(worker.last_ns, std::max(worker.began_ns, settled_ns));
    std::erase_if(worker.in_doubt, [&](const LockEvent& event) { return event.time >= settled; });
}

void Tracer::committed(unsigned number, Cycles /*began*/, Cycles time) {
    const HostHeapAllowed bookkeeping;
    Worker& worker = workers_[number];
    const std::uint64_t now = advance(worker, time);
    record({SpanKind::committed, TraceTrack::work, number, worker.began_ns, now, worker.elided, 0});
    worker.in_transaction = false;
    for (const LockEvent& event : worker.in_doubt) apply(number, event);
    worker.in_doubt.clear();
}

void Tracer::aborted(const AbortEvent& event) {
    const HostHeapAllowed bookkeeping;
    Worker& worker = workers_[event.victim];
    const std::uint64_t now = advance(worker, event.time);
    worker.in_transaction = false;
    worker.in_doubt.clear();
    if (full_) return;

    const Engine& engine = *Engine::current();
    TraceAbort abort;
    abort.event = event;
    abort.time_ns = now;
    abort.victim_lock = object(event.victim_lock);
    abort.killer_lock = object(event.killer_lock);
    if (event.line != model::no_line) {
        const std::uint64_t bytes =
            event.killer_bytes != 0 ? event.killer_bytes : event.victim_written | event.victim_read;
        const unsigned first = bytes != 0 ? static_cast<unsigned>(std::countr_zero(bytes)) : 0;
        abort.object = object(std::uint64_t{event.line} * model::line_bytes + first);
    }
    if (event.killer >= 0) {
        const Worker& killer = workers_[static_cast<std::size_t>(event.killer)];
        if (killer.phase.open) {
            abort.killer_track = !event.killer_in_transaction && killer.holding.open
                                     ? TraceTrack::locks
                                     : TraceTrack::work;
        }
    }
    trace_.aborts.push_back(abort);
    const auto which = static_cast<std::uint32_t>(trace_.aborts.size());
    record({SpanKind::aborted, TraceTrack::work, event.victim, worker.began_ns, now, worker.elided,
            which});
    const std::uint64_t back = advance(worker, event.time + engine.preset().rtm_abort_cycles);
    // With its transaction even where that was the last one within the limit.
    trace_.spans.push_back(
        {SpanKind::rollback, TraceTrack::work, event.victim, now, back, worker.elided, which});
}

void Tracer::lock_step(unsigned number, Cycles time, LockStep step, std::uint64_t lock) {
    const HostHeapAllowed bookkeeping;
    Worker& worker = workers_[number];
    const LockEvent event{time, advance(worker, time), step, lock};
    if (worker.in_transaction) {
        worker.in_doubt.push_back(event);
    } else {
        apply(number, event);
    }
}

void Tracer::apply(unsigned number, const LockEvent& event) {
    Worker& worker = workers_[number];
    switch (event.step) {
        case LockStep::waits:
            if (!full_ && !worker.waiting.open) {
                open(worker.waiting, SpanKind::waits, TraceTrack::work, number, event.time_ns,
                     object(event.lock));
            }
            break;
        case LockStep::gives_up:
            close(worker.waiting, event.time_ns);
            break;
        case LockStep::takes:
            close(worker.waiting, event.time_ns);
            if (++worker.held == 1 && !full_) {
                open(worker.holding, SpanKind::holds, TraceTrack::locks, number, event.time_ns,
                     object(event.lock));
            }
            worker.holding.span.number = std::max(worker.holding.span.number, worker.held);
            break;
        case LockStep::releases:
            if (worker.held != 0 && --worker.held == 0) close(worker.holding, event.time_ns);
            break;
    }
}

}  // namespace abortscope
