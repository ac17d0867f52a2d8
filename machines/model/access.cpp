// SPDX-License-Identifier: Apache-2.0
//
// One memory access of a worker, as one step of the simulated machine.
#include <fmt/format.h>

#include <cstring>

#include "machines/model/engine.hpp"
#include "machines/model/heap_guard.hpp"
#include "machines/model/turn.hpp"

namespace abortscope::model {
namespace {

constexpr unsigned page_shift = 12;

std::uint64_t byte_mask(std::uint64_t offset, unsigned size) {
    return ((std::uint64_t{1} << size) - 1) << (offset % line_bytes);
}

std::uint16_t plus1(unsigned id) {
    return static_cast<std::uint16_t>(id + 1);
}

}  // namespace

// Most accesses end here, as hits that nobody notices, in the line that their set has used last.
// Everything else is a tail call, so that they save no registers.
void Engine::access(const void* place, Operation op) {
    const auto offset = static_cast<std::uint64_t>(static_cast<const char*>(place) - base_);
    if (offset >= reach_) [[unlikely]]
        return access_outside(offset);
    if (--cpu_->background->left == 0) [[unlikely]]
        return access_after_background(offset, op);
    hit_or_miss(offset, op);
}

[[gnu::noinline]] void Engine::access_after_background(std::uint64_t offset, Operation op) {
    memory_.use_background(*cpu_->core, cpu_->thread);
    if (!memory_.casualties().empty()) settle_casualties(*cpu_);
    hit_or_miss(offset, op);
}

[[gnu::always_inline]] inline void Engine::hit_or_miss(std::uint64_t offset, Operation op) {
    const L1Cache& l1 = cpu_->core->l1;
    const auto line = static_cast<LineId>(offset / line_bytes);
    const L1Cache::Latest& latest = l1.latest[l1.tags.set_of(line)];
    if (latest.line != line) return access_earlier(offset, op);
    admit(offset, op, latest.slot, true);
}

/// An access to a line that is not the latest of its set.
[[gnu::noinline]] void Engine::access_earlier(std::uint64_t offset, Operation op) {
    const L1Cache& l1 = cpu_->core->l1;
    const std::uint32_t slot = l1.tags.find(static_cast<LineId>(offset / line_bytes));
    if (slot == TagArray::miss) return slow_access(offset, op, slot);
    hit_earlier(offset, op, slot);
}

[[gnu::noinline]] void Engine::hit_earlier(std::uint64_t offset, Operation op, std::uint32_t slot) {
    admit(offset, op, slot, false);
}

[[gnu::always_inline]] inline void Engine::admit(std::uint64_t offset, Operation op,
                                                 std::uint32_t slot, bool latest) {
    Cpu& cpu = *cpu_;
    L1Cache& l1 = cpu.core->l1;
    const HitRule& rule = cpu.rules[static_cast<std::size_t>(op.kind)];
    const SlotState state = l1.states[slot];
    if (cpu.now >= hit_limits_[state & contested] || !rule.admits(state)) {
        return slow_access(offset, op, slot);
    }
    if (!latest) l1.touch(slot);
    if (rule.noted) return noted_hit(offset, op, slot, rule.cost);
    cpu.now += rule.cost;
}

/// A hit that a transaction or an observer keeps account of.
void Engine::noted_hit(std::uint64_t offset, Operation op, std::uint32_t slot, std::uint32_t cost) {
    Cpu& cpu = *cpu_;
    if (options_.observer != nullptr) [[unlikely]]
        observe(offset, op);
    if (cpu.tx.open()) note_in_transaction(cpu, slot, offset, op, cpu.now);
    cpu.now += cost;
}

/// Outside a run, setting up or checking on the host: no time, no coherence, but the page is there.
[[gnu::noinline, gnu::cold]] void Engine::access_outside(std::uint64_t offset) {
    if (offset >= arena_.capacity()) {
        throw WorkloadError("shared data outside the machine's memory: use M::allocate");
    }
    static_cast<char*>(touched_.get())[offset >> page_shift] = 1;
}

void Engine::slow_access(std::uint64_t offset, Operation op, std::uint32_t slot) {
    const auto line = static_cast<LineId>(offset / line_bytes);
    const Cycles asked = cpu_->now;
    directory_.prefetch(line);
    if (slot == TagArray::miss) {
        __builtin_prefetch(base_ + offset);
        memory_.prefetch_for_miss(*cpu_->core, line);
    }
    give_way();
    if (static_cast<const char*>(touched_.get())[offset >> page_shift] == 0) [[unlikely]] {
        await_page(offset);
    }
    const Cycles queued = await_turn(line, op.kind, slot);
    take_line(offset, op, slot, queued);
    Cpu& cpu = *cpu_;
    if (cpu.tx.open()) {
        cpu.tx.settle(cpu.now, cpu.accesses(), cpu.now - asked - cpu.hit_cost(op.kind));
    }
}

[[gnu::noinline, gnu::cold]] void Engine::await_page(std::uint64_t offset) {
    do {
        touch_page(*cpu_, offset);
        give_way();
    } while (static_cast<const char*>(touched_.get())[offset >> page_shift] == 0);
}

/// Requests for one line are served one after another: that is what makes a contended line slow,
/// not its latency. Returns how long this one has waited; not at all if L1 serves it. `slot` as in
/// L1Cache::serves.
[[gnu::always_inline]] inline Cycles Engine::await_turn(LineId line, Access kind,
                                                        std::uint32_t& slot) {
    if (cpu_->core->l1.serves(line, kind, slot)) return 0;
    if (kind == Access::store || directory_[line].free_at() <= cpu_->now) return 0;
    const Cycles waited = await_line(line, kind);
    if (waited != 0) slot = cpu_->core->l1.tags.find(line);
    return waited;
}

[[gnu::noinline]] Cycles Engine::await_line(LineId line, Access kind) {
    const Cycles asked = cpu_->now;
    const Cycles turn = memory_.turn_of(*cpu_->core, line, kind, asked);
    if (turn == asked) return 0;
    cpu_->now = turn + cpu_->jitter.below(preset_.jitter_cycles + 1);
    give_way();
    return turn - asked;
}

/// The access itself, when it is this worker's turn and the line's.
[[gnu::always_inline]] inline void Engine::take_line(std::uint64_t offset, Operation op,
                                                     std::uint32_t slot, Cycles queued) {
    const auto line = static_cast<LineId>(offset / line_bytes);
    const bool write = op.kind != Access::load;
    // From here to the return nothing gives way: the access is one step.
    Cpu& cpu = *cpu_;
    if (options_.injected_aborts_ppm != 0 && cpu.tx.open() &&
        cpu.injection.below(1'000'000) < options_.injected_aborts_ppm) {
        abort_self(AbortReason::injected);
    }
    if (options_.observer != nullptr) [[unlikely]]
        observe(offset, op);
    resolve_conflicts(cpu, offset, op.bytes, write);

    L1Cache& l1 = cpu.core->l1;
    Cycles cost = cpu.hit_cost(op.kind);
    // A conflict that was resolved may have taken the line out of L1.
    if (slot != TagArray::miss && l1.tags.line_at(slot) != line) slot = TagArray::miss;
    if (slot != TagArray::miss && (!write || (l1.states[slot] & may_write) != 0)) {
        l1.touch(slot);
    } else {
        slot = memory_.acquire(*cpu.core, cpu.thread, line, op.kind, slot, cpu.now, queued, cost,
                               cpu.counts);
    }
    if (write && slot != TagArray::miss && (l1.states[slot] & watched) != 0) {
        memory_.lost_watches().push_back({cpu.core->id, line});
    }
    if (!memory_.lost_watches().empty()) settle_watches();
    if (write) directory_[line].last_writer_plus1 = plus1(running_->worker);
    if (cpu.tx.open()) note_in_transaction(cpu, slot, offset, op, cpu.now);
    cpu.now += cost;
    if (!memory_.casualties().empty()) settle_casualties(cpu);
}

bool Engine::store_exclusive(const void* place, unsigned size) {
    if (cpu_ == nullptr) return true;
    give_way();
    const std::uint64_t offset = arena_.offset_of(place);
    const auto line = static_cast<LineId>(offset / line_bytes);
    std::uint32_t slot = TagArray::miss;
    const Cycles queued = await_turn(line, Access::atomic, slot);
    if (slot == TagArray::miss) return false;
    ++cpu_->counts.accesses;
    take_line(offset, {Access::atomic, static_cast<std::uint8_t>(size)}, slot, queued);
    return true;
}

[[gnu::noinline, gnu::cold]] void Engine::observe(std::uint64_t offset, Operation op) {
    // After it was taken back, a transaction goes once more over what is settled.
    if (cpu_->tx.open() && cpu_->accesses() <= cpu_->tx.settled_accesses) return;
    const HostHeapAllowed bookkeeping;
    options_.observer->accessed(
        running_->worker, {cpu_->now, offset, op.bytes, op.kind, cpu_->tx.open(), running_->site});
}

/// The requester wins: whoever else has the line in a transaction's set, in a way that clashes
/// with this access, is rolled back now.
[[gnu::always_inline]] inline void Engine::resolve_conflicts(Cpu& cpu, std::uint64_t offset,
                                                             unsigned size, bool write) {
    const LineState& state = directory_[static_cast<LineId>(offset / line_bytes)];
    const bool foreign_writer =
        state.tx_writer_plus1 != nobody && state.tx_writer_plus1 != plus1(cpu.id);
    if (foreign_writer || (write && !state.tx_readers.empty())) {
        abort_conflicting(cpu, offset, size, write);
    }
}

[[gnu::noinline]] void Engine::abort_conflicting(Cpu& cpu, std::uint64_t offset, unsigned size,
                                                 bool write) {
    const auto line = static_cast<LineId>(offset / line_bytes);
    const LineState& state = directory_[line];
    AbortEvent event;
    event.reason = AbortReason::conflict;
    event.line = line;
    event.killer_bytes = byte_mask(offset, size);
    event.killer_wrote = write;
    if (state.tx_writer_plus1 != nobody && state.tx_writer_plus1 != plus1(cpu.id)) {
        abort_other(cpus_[state.tx_writer_plus1 - 1u], event);
    }
    if (!write) return;
    state.tx_readers.for_each(directory_.pool(), [&](std::uint16_t reader) {
        if (reader != cpu.id) abort_other(cpus_[reader], event);
    });
}

[[gnu::always_inline]] inline void Engine::note_in_transaction(Cpu& cpu, std::uint32_t slot,
                                                               std::uint64_t offset, Operation op,
                                                               Cycles time) {
    const auto line = static_cast<LineId>(offset / line_bytes);
    L1Cache& l1 = cpu.core->l1;
    std::uint32_t& place = cpu.tx.place[slot];
    SlotState& slot_state = l1.states[slot];
    if ((slot_state & marks_of(cpu.thread)) == 0) {
        place = static_cast<std::uint32_t>(cpu.tx.lines.size());
        cpu.tx.lines.push_back({line, slot, 0, 0, 0, 0});
    }
    TxLine& entry = cpu.tx.lines[place];
    if (op.kind == Access::load) {
        entry.read_bytes |= byte_mask(offset, op.bytes);
        if ((slot_state & read_by(cpu.thread)) != 0) return;
        slot_state |= read_by(cpu.thread);
        entry.first_read = cpu.tx.since_begin(time);
        directory_[line].tx_readers.insert(cpu.id, directory_.pool());
    } else {
        entry.written_bytes |= byte_mask(offset, op.bytes);
        log_undo(cpu.tx, offset, op.bytes);
        if ((slot_state & written_by(cpu.thread)) != 0) return;
        slot_state |= written_by(cpu.thread);
        entry.first_written = cpu.tx.since_begin(time);
        LineState& state = directory_[line];
        state.tx_writer_plus1 = plus1(cpu.id);
        state.last_writer_plus1 = plus1(running_->worker);
    }
}

void Engine::log_undo(Transaction& tx, std::uint64_t offset, unsigned size) {
    UndoEntry entry{offset, 0, size};
    std::memcpy(&entry.old_value, base_ + offset, size);
    tx.undo.push_back(entry);
}

/// Ends the transactions that lost a line they must keep; the own one last, without returning.
[[gnu::noinline, gnu::cold]] void Engine::settle_casualties(Cpu& cpu) {
    AbortEvent own;
    GrowBuffer<Casualty>& casualties = memory_.casualties();
    for (std::size_t i = 0; i < casualties.size(); ++i) {
        const Casualty lost = casualties[i];
        Cpu& loser = cpus_[lost.cpu];
        if (!loser.tx.open()) continue;
        AbortEvent event;
        event.reason = lost.written ? AbortReason::capacity_write : AbortReason::capacity_read;
        event.line = lost.line;
        event.level = lost.level;
        event.set = lost.set;
        event.way = lost.way;
        if (&loser != &cpu) {
            abort_other(loser, event);
        } else if (own.line == no_line || lost.written) {
            own = event;
        }
    }
    casualties.clear();
    if (own.line != no_line) abort_self(own);
}

/// The first touch of a page faults. Inside a transaction the fault is suppressed, so the page
/// stays away however often the transaction is retried.
void Engine::touch_page(Cpu& cpu, std::uint64_t offset) {
    if (cpu.tx.open()) abort_self(AbortReason::page_fault);
    static_cast<char*>(touched_.get())[offset >> page_shift] = 1;
    ++cpu.counts.page_faults;
    cpu.now += preset_.cycles_of_ns(preset_.page_fault_ns);
}

}  // namespace abortscope::model
