// SPDX-License-Identifier: Apache-2.0
#include "studies/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>

#include "machines/model/attribution.hpp"
#include "machines/model/engine.hpp"
#include "profiler/errors.hpp"
#include "profiler/machine_names.hpp"
#include "reports/hot_lines_table.hpp"
#include "reports/text_table.hpp"

namespace abortscope {
namespace {

using model::AbortEvent;
using model::AccessEvent;

constexpr std::array<std::string_view, 3> kind_names{"load", "store", "atomic"};

/// Keeps the last accesses of every worker and stops at the abort.
class Recorder final : public model::Observer {
  public:
    Recorder(unsigned workers, std::uint64_t number, std::size_t last)
        : number_(number), last_(last), recent_(workers) {}

    void accessed(unsigned worker, const AccessEvent& event) override {
        if (replay_) return;
        std::deque<AccessEvent>& recent = recent_[worker];
        recent.push_back(event);
        if (recent.size() > last_ + most_taken_back) recent.pop_front();
    }
    void taken_back(unsigned worker, model::Cycles /*settled*/, std::uint64_t accesses) override {
        if (replay_) return;
        std::deque<AccessEvent>& recent = recent_[worker];
        recent.resize(recent.size() - std::min<std::size_t>(recent.size(), accesses));
    }

    void aborted(const AbortEvent& event) override {
        ++aborts_;
        if (event.number != number_) return;
        const model::Engine& engine = *model::Engine::current();
        Replay& replay = replay_.emplace();
        fill(replay, event, engine);
        add_accesses(replay, event.victim, event, engine);
        if (event.killer >= 0) {
            add_accesses(replay, static_cast<unsigned>(event.killer), event, engine);
        }
        std::stable_sort(replay.accesses.begin(), replay.accesses.end(),
                         [](const ReplayedAccess& a, const ReplayedAccess& b) {
                             return a.cycles_before > b.cycles_before;
                         });
    }

    std::uint64_t aborts() const { return aborts_; }
    std::optional<Replay>& replay() { return replay_; }

  private:
    /// More than the hits that a worker runs ahead over.
    static constexpr std::size_t most_taken_back = 256;

    static void fill(Replay& replay, const AbortEvent& event, const model::Engine& engine) {
        replay.number = event.number;
        replay.time_ns = engine.preset().ns_of_cycles(event.time);
        replay.reason = name_of(event.reason);
        replay.status = event.status.word();
        replay.victim = event.victim;
        if (event.killer >= 0) replay.killer = static_cast<unsigned>(event.killer);
        if (event.victim_lock != model::no_offset) {
            replay.lock = engine.arena().name_of(event.victim_lock);
        }
        replay.killer_wrote = event.killer_wrote;
        replay.killer_in_transaction = event.killer_in_transaction;
        replay.false_sharing = event.false_sharing();
        replay.cycles_in_transaction = event.time - std::min(event.time, event.began);
        if (event.line == model::no_line) return;
        const std::uint64_t mask =
            event.killer_bytes != 0 ? event.killer_bytes : event.victim_written | event.victim_read;
        replay.object = engine.arena().name_of(
            std::uint64_t{event.line} * model::line_bytes +
            (mask != 0 ? static_cast<unsigned>(std::countr_zero(mask)) : 0u));
        replay.killer_bytes = byte_ranges(event.killer_bytes);
        if (event.victim_read != 0) {
            replay.victim_bytes = "read " + byte_ranges(event.victim_read);
        }
        if (event.victim_written != 0) {
            replay.victim_bytes += (replay.victim_bytes.empty() ? "" : ", ");
            replay.victim_bytes += "written " + byte_ranges(event.victim_written);
        }
        if (event.level != 0) {
            replay.place = fmt::format("L{}, set {}, way {}", event.level, event.set, event.way);
        }
    }

    void add_accesses(Replay& replay, unsigned worker, const AbortEvent& event,
                      const model::Engine& engine) const {
        const std::deque<AccessEvent>& recent = recent_[worker];
        for (std::size_t i = recent.size() - std::min(recent.size(), last_); i < recent.size();
             ++i) {
            const AccessEvent& access = recent[i];
            replay.accesses.push_back(
                {static_cast<std::int64_t>(event.time) - static_cast<std::int64_t>(access.time),
                 worker, std::string(kind_names[static_cast<std::size_t>(access.kind)]),
                 engine.arena().name_of(access.offset), access.size, access.in_transaction,
                 access.site, access.offset / model::line_bytes == event.line});
        }
    }

    std::uint64_t number_;
    std::size_t last_;
    std::uint64_t aborts_ = 0;
    std::vector<std::deque<AccessEvent>> recent_;
    std::optional<Replay> replay_;
};

}  // namespace

Replay replay_abort(const ScenarioEntry& scenario, const TrialSpec& spec, std::uint64_t number,
                    std::size_t last) {
    if (is_native(spec.machine)) {
        throw UsageError("replay needs a model machine: hardware does not run the same way twice");
    }
    Recorder recorder(spec.threads, number, last);
    TrialOptions options;
    options.observer = &recorder;
    run_trial(scenario, spec, options);
    if (!recorder.replay()) {
        throw UsageError(
            fmt::format("--abort {}: the trial has {} aborts", number, recorder.aborts()));
    }
    recorder.replay()->aborts = recorder.aborts();
    return std::move(*recorder.replay());
}

std::string text_of(const Replay& replay) {
    std::string text = fmt::format(
        "Abort {} of {}, at {:.3f} us: {}, status {:#x}\n", replay.number, replay.aborts,
        static_cast<double>(replay.time_ns) / 1e3, replay.reason, replay.status);
    text += fmt::format("  victim   worker {}, {} cycles into its transaction", replay.victim,
                        replay.cycles_in_transaction);
    if (!replay.lock.empty()) text += fmt::format(", which elided {}", replay.lock);
    text += '\n';
    if (replay.killer) {
        text += fmt::format("  killer   worker {}, {}", *replay.killer,
                            replay.killer_in_transaction ? "in a transaction of its own"
                                                         : "outside any transaction");
        if (!replay.killer_bytes.empty()) {
            text += fmt::format(", {} bytes {}", replay.killer_wrote ? "writing" : "reading",
                                replay.killer_bytes);
        }
        text += '\n';
    }
    if (!replay.object.empty()) text += fmt::format("  line     {}", replay.object);
    if (!replay.victim_bytes.empty()) {
        text += fmt::format("; the victim has {}", replay.victim_bytes);
    }
    if (replay.false_sharing) text += ": false sharing";
    if (!replay.place.empty()) text += fmt::format("; lost from {}", replay.place);
    if (!replay.object.empty()) text += '\n';

    using Align = TextTable::Align;
    TextTable table({{"before", "cycles"},
                     {"worker", ""},
                     {"access", "", Align::left},
                     {"bytes", ""},
                     {"object", "", Align::left},
                     {"transaction", "", Align::left},
                     {"doing", "", Align::left, 1},
                     {"line", "", Align::left}});
    for (const ReplayedAccess& access : replay.accesses) {
        table.add({fmt::format("{}", access.cycles_before), fmt::format("{}", access.worker),
                   access.kind, fmt::format("{}", access.size), access.object,
                   access.in_transaction ? "inside" : "", access.site, access.on_line ? "<" : ""});
    }
    return text + "\nLast accesses of both sides (< marks that line):\n\n" + table.text();
}

}  // namespace abortscope
