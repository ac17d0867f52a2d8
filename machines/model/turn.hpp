// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is: how a worker gives way to the CPU with the smallest virtual time.
//
// All of it is inlined into each step that gives way, down to the switch of stacks. After a switch
// the host's processor predicts no return rightly, so every call less on the way is a prediction
// saved: an elided search, which switches at every second access, became 1.1 times as fast.
#pragma once

#include <algorithm>

#include "machines/model/engine.hpp"

namespace abortscope::model {

[[gnu::always_inline]] inline void Engine::note_turn() {
    turn_time_ = cpu_->now;
    turn_cpu_ = cpu_->id;
}

[[gnu::always_inline]] inline void Engine::set_limits() {
    const Cpu& cpu = *cpu_;
    // now << id_bits | id < top  <=>  now < ceil((top - id) / 2^id_bits)
    strict_limit_ =
        (turns_.top() - cpu.id + (TurnTree::Key{1} << TurnTree::id_bits) - 1) >> TurnTree::id_bits;
    strict_limit_ = std::min(strict_limit_, next_timer_);
    miss_limit_ = std::min(strict_limit_, cpu.next_event);
    set_hit_limits();
}

[[gnu::always_inline]] inline void Engine::set_hit_limits() {
    const Cycles limit = std::min(strict_limit_ + preset_.lookahead_cycles, cpu_->next_event);
    const Cycles shared =
        std::min(strict_limit_ + preset_.shared_lookahead_cycles, cpu_->next_event);
    hit_limits_ = {limit, cpu_->tx.open() ? limit : shared};
}

/// Gives the turn to a CPU that has been taken out of the heap.
[[gnu::always_inline]] inline void Engine::enter(Cpu& next) {
    Task& from = *running_;
    cpu_ = &next;
    running_ = next.task;
    set_limits();
    note_turn();
    if (running_ != &from) Fiber::switch_to(*from.fiber, *running_->fiber);
}

[[gnu::always_inline]] inline void Engine::switch_away() {
    const TurnTree::Key mine = TurnTree::key(cpu_->now, cpu_->id);
    TurnTree::Key next = mine;
    if (next_timer_ <= cpu_->now) [[unlikely]] {
        turns_.insert(mine);
        fire_timers();
        next = turns_.pop();
    } else if (turns_.top() < mine) {
        next = turns_.replace_top(mine);
    } else {
        set_limits();
        return;
    }
    enter(cpus_[TurnTree::cpu_of(next)]);
}

/// Returns when it is this worker's turn and no event of its CPU is due. The worker may be on
/// another CPU then, and does not return at all if its transaction was aborted meanwhile.
[[gnu::always_inline]] inline void Engine::give_way() {
    while (cpu_->now >= miss_limit_) {
        if (cpu_->now >= strict_limit_) {
            switch_away();
        } else {
            note_turn();
            handle_event();
        }
    }
    note_turn();
}

}  // namespace abortscope::model
