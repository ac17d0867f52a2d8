// SPDX-License-Identifier: Apache-2.0
//
// Records a trial of the model while it runs.
//
//     Tracer tracer(spec.threads, 100'000);
//     run_trial(scenario, spec, {.observer = &tracer});
//     const Trace trace = tracer.take();
//
// It takes 32 bytes a span and about 250 more an abort, and records at most `limit` spans of each
// phase: the first ones. So a long phase does not use up the room of those that come after it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "machines/model/attribution.hpp"
#include "profiler/trace/trace.hpp"

namespace abortscope {

class Tracer final : public model::Observer {
  public:
    Tracer(unsigned workers, std::size_t limit);

    /// After the trial. The tracer is of no further use.
    Trace take();

    void phase(std::string_view name) override;
    void committed(unsigned worker, model::Cycles began, model::Cycles time) override;
    void began(unsigned worker, model::Cycles time, std::uint64_t lock) override;
    void taken_back(unsigned worker, model::Cycles settled, std::uint64_t accesses) override;
    void aborted(const model::AbortEvent& event) override;
    void lock_step(unsigned worker, model::Cycles time, LockStep step, std::uint64_t lock) override;
    void waits(unsigned worker, model::Cycles time, std::uint64_t futex) override;
    void sleeps(unsigned worker, model::Cycles time) override;
    void preempted(unsigned worker, model::Cycles time) override;
    void runs(unsigned worker, model::Cycles time, unsigned cpu) override;
    void ended(unsigned worker, model::Cycles time) override;

  private:
    /// A span that has not ended yet.
    struct Open {
        bool open = false;
        TraceSpan span;
    };
    struct LockEvent {
        model::Cycles time;
        std::uint64_t time_ns;
        LockStep step;
        std::uint64_t lock;
    };
    struct Worker {
        std::uint64_t last_ns = 0;  ///< no later event is told of an earlier time
        bool in_transaction = false;
        std::uint64_t began_ns = 0;
        std::uint32_t elided = 0;
        Open phase;
        Open waiting;
        Open holding;
        Open on_cpu;
        unsigned held = 0;
        std::vector<LockEvent> in_doubt;  ///< in the transaction that is open
    };

    std::uint64_t advance(Worker& worker, model::Cycles time) const;
    std::uint32_t name(std::string_view text);
    std::uint32_t object(std::uint64_t offset);
    void open(Open& place, SpanKind kind, TraceTrack track, unsigned worker, std::uint64_t time_ns,
              std::uint32_t what, std::uint32_t number = 0);
    void close(Open& place, std::uint64_t time_ns);
    void record(const TraceSpan& span);
    void apply(unsigned worker, const LockEvent& event);
    void leave_cpu(unsigned worker, model::Cycles time, SpanKind why, std::uint32_t what);

    Trace trace_;
    std::vector<Worker> workers_;
    std::unordered_map<std::string, std::uint32_t> name_ids_;
    std::uint32_t phase_name_ = 0;
    std::size_t recorded_ = 0;  ///< of this phase
    bool full_ = false;         ///< likewise
};

}  // namespace abortscope
