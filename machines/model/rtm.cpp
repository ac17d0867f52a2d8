// SPDX-License-Identifier: Apache-2.0
//
// Transactions: begin, commit, abort, and the rollback that leaves no trace.
#include <array>
#include <cstdlib>
#include <cstring>

#include "machines/model/engine.hpp"
#include "machines/model/heap_guard.hpp"
#include "machines/model/turn.hpp"

namespace abortscope::model {
namespace {

/// What a reason means to the status word and to the counters.
struct ReasonRow {
    rtm::Status status;
    std::uint64_t EventCounts::*cause;     ///< TX_MEM.* and TX_EXEC.*
    std::uint64_t EventCounts::*category;  ///< RTM_RETIRED.ABORTED_*
};

constexpr std::uint64_t EventCounts::*no_counter = nullptr;

// In the order of AbortReason.
constexpr std::array<ReasonRow, abort_reason_count> reasons{{
    {rtm::Status::conflict(), &EventCounts::tx_conflict, &EventCounts::abort_mem},
    {rtm::Status::capacity(), &EventCounts::tx_capacity_read, &EventCounts::abort_mem},
    {rtm::Status::capacity(), &EventCounts::tx_capacity_write, &EventCounts::abort_mem},
    {rtm::Status::explicit_abort(0), no_counter, no_counter},
    {rtm::Status::unspecified(), no_counter, &EventCounts::abort_unfriendly},
    {rtm::Status::unspecified(), no_counter, &EventCounts::abort_unfriendly},
    {rtm::Status::unspecified(), no_counter, &EventCounts::abort_events},
    {rtm::Status::unspecified(), no_counter, &EventCounts::abort_events},
    {rtm::Status::unspecified(), no_counter, &EventCounts::abort_events},
    {rtm::Status::unspecified(), &EventCounts::nest_overflow, &EventCounts::abort_unfriendly},
    {rtm::Status::unspecified(), no_counter, &EventCounts::abort_events},
}};

}  // namespace

rtm::Status Engine::begin(const void* lock) {
    if (cpu_ == nullptr) throw WorkloadError("XBEGIN outside a worker");
    if (cpu_->tx.open()) {
        // Flat nesting: an inner transaction is a count, and an abort goes to the outermost begin.
        if (cpu_->tx.depth >= preset_.rtm_max_nest) abort_self(AbortReason::nest_overflow);
        ++cpu_->tx.depth;
        cpu_->now += preset_.rtm_nested_cycles;
        return rtm::Status::started();
    }
    // Nobody can notice it, so it need not give way.
    if (cpu_->now >= hit_limits_[0]) give_way();
    if (running_->fiber->snapshot()) return running_->begin_result;  // after an abort
    Cpu& cpu = *cpu_;
    ++cpu.counts.tx_start;
    cpu.tx.began = cpu.now;
    cpu.now += preset_.rtm_begin_cycles + cpu.jitter.below(preset_.jitter_cycles + 1);
    cpu.open_transaction(lock);
    set_hit_limits();
    if (options_.observer != nullptr) {
        const HostHeapAllowed bookkeeping;
        options_.observer->began(running_->worker, cpu.tx.began, lock_offset(cpu.tx));
    }
    return rtm::Status::started();
}

void Engine::commit() {
    if (!in_transaction()) throw WorkloadError("XEND outside a transaction");
    if (cpu_->tx.depth > 1) {
        --cpu_->tx.depth;
        cpu_->now += preset_.rtm_nested_cycles;
        return;
    }
    give_way();
    Cpu& cpu = *cpu_;
    cpu.now += preset_.rtm_commit_cycles;
    release_lines(cpu, true);
    arena_.commit(cpu.tx.arena);
    ++cpu.counts.tx_commit;
    cpu.counts.cycles_t += cpu.now - cpu.tx.began;
    cpu.counts.cycles_ct += cpu.now - cpu.tx.began;
    if (options_.observer != nullptr) {
        const HostHeapAllowed bookkeeping;
        options_.observer->committed(running_->worker, cpu.tx.began, cpu.now);
    }
    cpu.close_transaction();
    set_hit_limits();
}

void Engine::abort_explicitly(std::uint8_t code) {
    give_way();
    AbortEvent event;
    event.reason = AbortReason::explicit_abort;
    event.status = rtm::Status::explicit_abort(code);
    // Elision found its lock taken: the line to blame is the lock's.
    const std::uint64_t lock = lock_offset(cpu_->tx);
    if (code == rtm::code::lock_busy && lock != no_offset) {
        event.line = static_cast<LineId>(lock / line_bytes);
        const std::uint16_t owner = directory_[event.line].last_writer_plus1;
        if (owner != nobody && owner != running_->worker + 1u) event.killer = owner - 1;
    }
    abort_self(event);
}

/// What L1 knows of a line of the CPU's transaction; null if it has left L1.
SlotState* Engine::state_in_l1(const Cpu& cpu, const TxLine& entry) {
    L1Cache& l1 = cpu.core->l1;
    return l1.tags.line_at(entry.slot) == entry.line ? &l1.states[entry.slot] : nullptr;
}

void Engine::forget_read(const Cpu& cpu, TxLine& entry) {
    entry.read_bytes = 0;
    directory_[entry.line].tx_readers.erase(cpu.id, directory_.pool());
    SlotState* state = state_in_l1(cpu, entry);
    if (state != nullptr) *state &= static_cast<SlotState>(~read_by(cpu.thread));
}

void Engine::forget_write(const Cpu& cpu, TxLine& entry) {
    entry.written_bytes = 0;
    LineState& line = directory_[entry.line];
    if (line.tx_writer_plus1 == cpu.id + 1u) line.tx_writer_plus1 = nobody;
    SlotState* state = state_in_l1(cpu, entry);
    if (state != nullptr) *state &= static_cast<SlotState>(~written_by(cpu.thread));
}

/// Takes the CPU's transaction out of the directory and of L1. Lines whose writes are undone leave
/// L1: what was there is what the transaction wrote. A write that it had only run ahead to when
/// another CPU's step ended it has not been there.
void Engine::release_lines(Cpu& cpu, bool keep_writes) {
    for (const TxLine& entry : cpu.tx.lines) {
        LineState& line = directory_[entry.line];
        if (entry.read_bytes != 0) line.tx_readers.erase(cpu.id, directory_.pool());
        const bool written = entry.written_bytes != 0;
        if (written && line.tx_writer_plus1 == cpu.id + 1u) line.tx_writer_plus1 = nobody;
        SlotState* state = state_in_l1(cpu, entry);
        if (state == nullptr) continue;
        *state &= static_cast<SlotState>(~marks_of(cpu.thread));
        if (!written || keep_writes) continue;
        if (&cpu == cpu_ || precedes_step(cpu, cpu.tx.opened + entry.first_written)) {
            memory_.discard_from_l1(*cpu.core, entry.line);
        }
    }
}

std::uint64_t Engine::lock_offset(const Transaction& tx) const {
    return tx.lock != nullptr && arena_.contains(tx.lock) ? arena_.offset_of(tx.lock) : no_offset;
}

void Engine::lock_step(LockStep step, const void* lock) {
    if (options_.observer == nullptr || cpu_ == nullptr) return;
    if (cpu_->tx.open() && cpu_->accesses() < cpu_->tx.settled_accesses) return;  // as observe
    const HostHeapAllowed bookkeeping;
    const std::uint64_t offset = arena_.contains(lock) ? arena_.offset_of(lock) : no_offset;
    options_.observer->lock_step(running_->worker, cpu_->now, step, offset);
}

/// Completes an abort's event with what the victim's transaction and the current CPU know.
void Engine::attribute(const Cpu& cpu, AbortEvent& event) {
    event.number = ++aborts_;
    event.began = cpu.tx.began;
    event.time = cpu_->now;
    event.victim = cpu.task->worker;
    event.victim_site = cpu.task->site;
    event.victim_lock = lock_offset(cpu.tx);
    event.lines = cpu.tx.lines.size();
    if (event.line != no_line) {
        event.victim_read = 0;
        event.victim_written = 0;
        for (const TxLine& entry : cpu.tx.lines) {
            if (entry.line != event.line) continue;
            event.victim_read |= entry.read_bytes;
            event.victim_written |= entry.written_bytes;
        }
    }
    if (&cpu != cpu_) {
        event.killer = static_cast<int>(running_->worker);
        event.killer_site = running_->site;
        event.killer_in_transaction = cpu_->tx.open();
        event.killer_lock = lock_offset(cpu_->tx);
    }
    const HostHeapAllowed bookkeeping;
    attribution_.add(event);
    if (options_.observer != nullptr) options_.observer->aborted(event);
}

void Engine::undo_stores(const Transaction& tx) {
    for (std::size_t i = tx.undo.size(); i-- > 0;) {
        const UndoEntry& entry = tx.undo[i];
        std::memcpy(base_ + entry.offset, &entry.old_value, entry.size);
    }
}

/// Undoes the CPU's transaction, as of the current CPU's time. The stack is the caller's part.
void Engine::roll_back(Cpu& cpu, AbortEvent& event) {
    Transaction& tx = cpu.tx;
    const Cycles when = cpu_->now;
    const ReasonRow& row = reasons[index_of(event.reason)];
    if (event.reason != AbortReason::explicit_abort) event.status = row.status;
    if (tx.depth > 1) event.status = event.status.with_nested();
    cpu.task->begin_result = event.status;
    attribute(cpu, event);

    undo_stores(tx);
    release_lines(cpu, false);
    if (!memory_.lost_watches().empty()) settle_watches();
    arena_.roll_back(tx.arena);

    ++cpu.counts.tx_abort;
    if (row.cause != nullptr) ++(cpu.counts.*row.cause);
    if (row.category != nullptr) ++(cpu.counts.*row.category);
    if (when > tx.began) cpu.counts.cycles_t += when - tx.began;
    cpu.close_transaction();
    cpu.now = when + preset_.rtm_abort_cycles + cpu.jitter.below(preset_.jitter_cycles + 1);
}

/// Whether what the CPU did at that time comes before the current step.
bool Engine::precedes_step(const Cpu& cpu, Cycles time) const {
    return time != turn_time_ ? time < turn_time_ : cpu.id < turn_cpu_;
}

/// Whether the victim had come to the access that an abort is about when the current step came, or
/// has only run ahead to it.
bool Engine::had_touched(const Cpu& victim, const AbortEvent& event) const {
    const Transaction& tx = victim.tx;
    const bool by_read = event.reason == AbortReason::capacity_read || event.killer_wrote;
    const bool by_write = event.reason != AbortReason::capacity_read;
    for (const TxLine& entry : tx.lines) {
        if (entry.line != event.line) continue;
        if (by_read && entry.read_bytes != 0 &&
            precedes_step(victim, tx.opened + entry.first_read)) {
            return true;
        }
        if (by_write && entry.written_bytes != 0 &&
            precedes_step(victim, tx.opened + entry.first_written)) {
            return true;
        }
    }
    return false;
}

/// Makes undone what a transaction has run ahead over. What is settled stays: the worker starts
/// again after its begin, so much later that it comes to the end of the settled part at the same
/// time as before, over hits; then it meets what the current step has done.
void Engine::take_back(Cpu& victim) {
    Transaction& tx = victim.tx;
    if (options_.observer != nullptr) {
        const HostHeapAllowed bookkeeping;
        // None if it has not yet come again to the end of the settled part.
        const std::uint64_t made = std::max(victim.accesses(), tx.settled_accesses);
        const std::uint64_t accesses = made - tx.settled_accesses;
        options_.observer->taken_back(victim.task->worker, tx.settled, accesses);
    }
    undo_stores(tx);
    tx.undo.clear();
    for (TxLine& entry : tx.lines) {
        if (entry.read_bytes != 0 && !precedes_step(victim, tx.opened + entry.first_read)) {
            forget_read(victim, entry);
        }
        if (entry.written_bytes != 0 && !precedes_step(victim, tx.opened + entry.first_written)) {
            forget_write(victim, entry);
        }
    }
    while (!tx.lines.empty() && (tx.lines.back().read_bytes | tx.lines.back().written_bytes) == 0) {
        SlotState* state = state_in_l1(victim, tx.lines.back());
        if (state != nullptr) *state &= static_cast<SlotState>(~marks_of(victim.thread));
        tx.lines.pop_back();
    }
    arena_.roll_back(tx.arena);
    tx.depth = 1;
    victim.counts.accesses -= victim.accesses() - tx.accesses_before;
    victim.now = tx.opened + tx.delay;
    victim.task->begin_result = rtm::Status::started();
}

/// A transaction of another CPU, whose worker is suspended.
void Engine::abort_other(Cpu& victim, AbortEvent& event) {
    if (had_touched(victim, event)) {
        roll_back(victim, event);
    } else {
        take_back(victim);
    }
    victim.task->fiber->roll_back();
    turns_.update(TurnTree::key(victim.now, victim.id));
    set_limits();
}

/// The own transaction: the stack that this runs on is restored by the host.
void Engine::abort_self(AbortEvent& event) {
    roll_back(*cpu_, event);
    to_host(Request::roll_back);
    std::abort();  // the fiber goes on in begin()
}

void Engine::abort_self(AbortReason reason) {
    AbortEvent event;
    event.reason = reason;
    abort_self(event);
}

}  // namespace abortscope::model
