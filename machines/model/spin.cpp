// SPDX-License-Identifier: Apache-2.0
//
// Spinning workers, parked: a loop that loads one word and pauses until the word changes does the
// same round again and again, so the rounds are counted instead of executed.
//
// A round is a load and a pause; the next round's load is one period later. The rounds go on until
// the line leaves the core's L1 or a sibling thread writes it, until an event of the CPU is due,
// until the CPU gets slower or faster or has to run another task, or until the bound on pauses is
// reached. In the order of steps (time, CPU), a load before the change saw the old value, so the
// worker resumes at its first load after it. The counts and times are those of the executed loop,
// to the cycle (tests/machines/model/spin_test.cpp).
#include <algorithm>
#include <cstring>

#include "machines/model/engine.hpp"
#include "machines/model/turn.hpp"

namespace abortscope::model {

void Engine::spin_load(const void* place, unsigned size) {
    if (cpu_ != nullptr) {
        give_way();
        Cpu& cpu = *cpu_;
        L1Cache& l1 = cpu.core->l1;
        const std::uint64_t offset = arena_.offset_of(place);
        const std::uint32_t slot = l1.tags.find(static_cast<LineId>(offset / line_bytes));
        if (slot != TagArray::miss && (l1.states[slot] & any_written) == 0 && !cpu.tx.open()) {
            ++cpu.counts.accesses;
            l1.touch(slot);
            cpu.now += cpu.hit_cost(Access::load);
            return;
        }
    }
    access(place, {Access::load, static_cast<std::uint8_t>(size)});
}

std::uint32_t Engine::spin_pause(const void* place, unsigned size, std::uint64_t seen,
                                 std::uint32_t most) {
    pause();
    std::uint32_t passed = 1;
    if (!options_.park_spinners) return passed;
    const auto line = static_cast<LineId>(arena_.offset_of(place) / line_bytes);
    // The pause may have given way, and the word may have changed: then the next load is a real
    // one.
    if (most == 1 || std::memcmp(place, &seen, size) != 0) return passed;
    if (park(*cpu_, line, most == unbounded ? unbounded : most - passed)) {
        passed += static_cast<std::uint32_t>(cpu_->skipped_rounds);
        cpu_->counts.accesses += cpu_->skipped_rounds;
    }
    return passed;
}

/// Parks the current worker before its next load, if there is a round to skip at all. Returns true
/// when it has been resumed; the CPU is the same.
bool Engine::park(Cpu& cpu, LineId line, std::uint32_t most) {
    const std::uint32_t slot = cpu.core->l1.tags.find(line);
    if (slot == TagArray::miss || (cpu.core->l1.states[slot] & any_written) != 0) return false;
    const Cycles pause =
        preset_.pause_cycles +
        (cpu.busy_siblings == 0 ? 0 : preset_.pause_cycles * preset_.smt_slowdown_pct / 100);
    cpu.parked_period = cpu.hit_cost(Access::load) + pause;
    std::uint64_t rounds =
        cpu.next_event > cpu.now ? (cpu.next_event - cpu.now) / cpu.parked_period : 0;
    if (most != unbounded) rounds = std::min<std::uint64_t>(rounds, most);
    if (rounds == 0) return false;

    cpu.core->l1.watch(slot);
    cpu.parked_line = line;
    cpu.parked_since = cpu.now;
    cpu.skipped_rounds = rounds;
    cpu.parked_for_ever = most == unbounded;
    parked_for_ever_ += cpu.parked_for_ever ? 1 : 0;
    cpu.now += rounds * cpu.parked_period;
    turns_.insert(TurnTree::key(cpu.now, cpu.id));
    if (parked_for_ever_ == turns_.size() && timers_.empty() && queued_tasks_ == 0) {
        // Nobody is left who could change any of the lines.
        to_host(Request::deadlock);
    }
    fire_timers();
    enter(cpus_[TurnTree::cpu_of(turns_.pop())]);

    if (cpu.parked_line != no_line) end_watch(cpu);  // nothing happened before the last round
    return true;
}

/// Something happened in the current step that the worker notices at its next load.
void Engine::unpark(Cpu& cpu) {
    std::uint64_t rounds = 0;
    if (turn_time_ > cpu.parked_since) {
        rounds = (turn_time_ - cpu.parked_since + cpu.parked_period - 1) / cpu.parked_period;
    }
    const Cycles load = cpu.parked_since + rounds * cpu.parked_period;
    if (load == turn_time_ && cpu.id < turn_cpu_) ++rounds;  // that load came before the step
    cpu.skipped_rounds = std::min(rounds, cpu.skipped_rounds);
    cpu.now = cpu.parked_since + cpu.skipped_rounds * cpu.parked_period;
    end_watch(cpu);
    turns_.update(TurnTree::key(cpu.now, cpu.id));
    set_limits();
}

void Engine::end_watch(Cpu& cpu) {
    const LineId line = cpu.parked_line;
    parked_for_ever_ -= cpu.parked_for_ever ? 1 : 0;
    cpu.parked_line = no_line;
    const std::uint32_t slot = cpu.core->l1.tags.find(line);
    if (slot == TagArray::miss) return;
    for (unsigned thread = 0; thread < preset_.threads_per_core; ++thread) {
        if (cpus_[memory_.cpu_of(cpu.core->id, thread)].parked_line == line) return;
    }
    cpu.core->l1.unwatch(slot);
}

/// Resumes the workers parked on lines that their core has lost, or that a sibling has written.
void Engine::settle_watches() {
    GrowBuffer<LostWatch>& lost = memory_.lost_watches();
    for (std::size_t i = 0; i < lost.size(); ++i) {
        for (unsigned thread = 0; thread < preset_.threads_per_core; ++thread) {
            Cpu& cpu = cpus_[memory_.cpu_of(lost[i].core, thread)];
            if (cpu.parked_line == lost[i].line) unpark(cpu);
        }
    }
    lost.clear();
}

}  // namespace abortscope::model
