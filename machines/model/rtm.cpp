// SPDX-License-Identifier: Apache-2.0
//
// Transactions: begin, commit, abort, and the rollback that leaves no trace.
#include <array>
#include <cstdlib>
#include <cstring>

#include "machines/model/engine.hpp"

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
constexpr std::array<ReasonRow, 8> reasons{{
    {rtm::Status::conflict(), &EventCounts::tx_conflict, &EventCounts::abort_mem},
    {rtm::Status::capacity(), &EventCounts::tx_capacity_read, &EventCounts::abort_mem},
    {rtm::Status::capacity(), &EventCounts::tx_capacity_write, &EventCounts::abort_mem},
    {rtm::Status::explicit_abort(0), no_counter, no_counter},
    {rtm::Status::unspecified(), no_counter, &EventCounts::abort_unfriendly},
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
        cpu_->now += preset_.rtm_begin_cycles;
        return rtm::Status::started();
    }
    give_way();
    Cpu& cpu = *cpu_;
    ++cpu.counts.tx_start;
    cpu.tx.start(cpu.now, lock);
    cpu.now += preset_.rtm_begin_cycles + cpu.jitter.below(preset_.jitter_cycles + 1);
    running_->begin_result = rtm::Status::started();
    to_host(Request::snapshot);
    // Here twice: after the snapshot, and once more after every abort.
    return running_->begin_result;
}

void Engine::commit() {
    if (!in_transaction()) throw WorkloadError("XEND outside a transaction");
    if (cpu_->tx.depth > 1) {
        --cpu_->tx.depth;
        cpu_->now += preset_.rtm_commit_cycles;
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
    cpu.tx.forget();
}

void Engine::abort_explicitly(std::uint8_t code) {
    give_way();
    abort_self(AbortReason::explicit_abort, code);
}

/// Takes the CPU's transaction out of the directory and of L1. Lines whose writes are undone leave
/// L1: what was there is what the transaction wrote.
void Engine::release_lines(Cpu& cpu, bool keep_writes) {
    const auto mine = static_cast<std::uint16_t>(cpu.id + 1);
    const auto others = static_cast<std::uint8_t>(~(cpu.own_read | cpu.own_written));
    L1Cache& l1 = cpu.core->l1;
    for (const TxLine& entry : cpu.tx.lines) {
        LineState& state = directory_[entry.line];
        if (entry.read_bytes != 0) state.tx_readers.erase(cpu.id, directory_.pool());
        const bool written = entry.written_bytes != 0;
        if (written && state.tx_writer_plus1 == mine) state.tx_writer_plus1 = nobody;
        const std::uint32_t slot = l1.tags.find(entry.line);
        if (slot == TagArray::miss) continue;
        l1.marks[slot] &= others;
        if (written && !keep_writes) memory_.discard_from_l1(*cpu.core, entry.line);
    }
}

/// Undoes the CPU's transaction as of `when`. The stack is the caller's part.
void Engine::roll_back(Cpu& cpu, AbortReason reason, std::uint8_t code, Cycles when) {
    Transaction& tx = cpu.tx;
    for (std::size_t i = tx.undo.size(); i-- > 0;) {
        const UndoEntry& entry = tx.undo[i];
        std::memcpy(base_ + entry.offset, &entry.old_value, entry.size);
    }
    release_lines(cpu, false);
    if (!memory_.lost_watches().empty()) settle_watches();
    arena_.roll_back(tx.arena);

    const ReasonRow& row = reasons[static_cast<std::size_t>(reason)];
    rtm::Status status =
        reason == AbortReason::explicit_abort ? rtm::Status::explicit_abort(code) : row.status;
    if (tx.depth > 1) status = status.with_nested();
    cpu.task->begin_result = status;

    ++cpu.counts.tx_abort;
    if (row.cause != nullptr) ++(cpu.counts.*row.cause);
    if (row.category != nullptr) ++(cpu.counts.*row.category);
    if (when > tx.began) cpu.counts.cycles_t += when - tx.began;
    tx.forget();
    cpu.now = when + preset_.rtm_abort_cycles + cpu.jitter.below(preset_.jitter_cycles + 1);
}

/// A transaction of another CPU, whose worker is suspended.
void Engine::abort_other(Cpu& victim, AbortReason reason) {
    roll_back(victim, reason, 0, cpu_->now);
    victim.task->fiber->roll_back();
    heap_.update(CpuHeap::key(victim.now, victim.id));
    set_limits();
}

/// The own transaction: the stack that this runs on is restored by the host.
void Engine::abort_self(AbortReason reason, std::uint8_t code) {
    roll_back(*cpu_, reason, code, cpu_->now);
    to_host(Request::roll_back);
    std::abort();  // the fiber goes on in begin()
}

}  // namespace abortscope::model
