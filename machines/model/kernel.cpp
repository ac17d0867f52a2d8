// SPDX-License-Identifier: Apache-2.0
//
// The operating system of the simulated machine: interrupts, time slices, futexes, sleeping.
//
// A CPU runs one task and has a queue of ready ones; the one that has run least goes first. A
// woken task goes to the CPU it ran on if that idles, else to an idle one, else it queues and
// preempts a task that is further ahead than a granularity (the shape of Linux's CFS; constants
// and their sources are in docs/model.md).
#include <algorithm>

#include "machines/model/engine.hpp"
#include "machines/model/turn.hpp"

namespace abortscope::model {
namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;

std::uint64_t sooner(std::uint64_t time, std::uint64_t by) {
    return time > by ? time - by : 0;
}

}  // namespace

/// What a hit costs depends on whether the core's other threads are busy.
void Engine::set_rules(Cpu& cpu) {
    const auto slowed = [&](std::uint32_t cycles) {
        if (cpu.busy_siblings != 0) cycles += cycles * preset_.smt_slowdown_pct / 100;
        return static_cast<std::uint16_t>(cycles);
    };
    const std::uint16_t load = slowed(preset_.l1_hit_cycles);
    const std::uint16_t store = slowed(preset_.store_cycles);
    const std::uint16_t atomic = slowed(preset_.l1_hit_cycles + preset_.locked_cycles);
    // A store is unnoticed where nobody watches, wants or has the line.
    constexpr auto all = static_cast<SlotState>(~contested);
    const bool observed = options_.observer != nullptr;
    cpu.rules_outside = {{{any_written, 0, load, observed},
                          {all, may_write, store, observed},
                          {all, may_write, atomic, observed}}};
    // In a transaction, its own marks are no hindrance.
    const auto others = static_cast<SlotState>(all & ~marks_of(cpu.thread));
    cpu.rules_inside = {{{static_cast<SlotState>(any_written & others), 0, load, true},
                         {others, may_write, store, true},
                         {others, may_write, atomic, true}}};
    if (options_.injected_aborts_ppm != 0) {
        for (HitRule& rule : cpu.rules_inside) {  // never
            rule.mask = 0;
            rule.wanted = 1;
        }
    }
}

/// A CPU starts or stops executing: its core's other threads get slower or faster.
void Engine::set_busy(Cpu& cpu, bool busy) {
    if (busy) {
        ++busy_cpus_;
        cpu.busy_since = cpu.now;
    } else {
        --busy_cpus_;
        cpu.counts.cycles += cpu.now - cpu.busy_since;
    }
    for (unsigned thread = 0; thread < preset_.threads_per_core; ++thread) {
        Cpu& sibling = cpus_[memory_.cpu_of(cpu.core->id, thread)];
        if (&sibling == &cpu) continue;
        if (sibling.parked_line != no_line) unpark(sibling);
        sibling.busy_siblings = busy ? sibling.busy_siblings + 1 : sibling.busy_siblings - 1;
        set_rules(sibling);
    }
}

void Engine::charge_run_time(Cpu& cpu) {
    Task& task = *cpu.task;
    if (cpu.now > task.charged_until) task.vruntime += cpu.now - task.charged_until;
    task.charged_until = cpu.now;
}

void Engine::put_on_cpu(Cpu& cpu, Task& task, Cycles time) {
    cpu.now = std::max(cpu.now, time);
    cpu.task = &task;
    task.cpu = &cpu;
    task.state = TaskState::running;
    task.slice_start = cpu.now;
    task.charged_until = cpu.now;
    if (cpu.next_interrupt <= cpu.now) {
        const std::uint64_t mean =
            preset_.cycles_of_ns(ns_per_second / std::max(preset_.timer_hz, 1u));
        cpu.next_interrupt = cpu.now + 1 + cpu.interrupts.exponential(mean);
    }
    cpu.next_event = cpu.resched ? cpu.now : cpu.next_interrupt;
    turns_.insert(TurnTree::key(cpu.now, cpu.id));
    if (options_.observer != nullptr) options_.observer->runs(task.worker, cpu.now, cpu.id);
}

/// The ready task that has run least, of this CPU's queue or, if that is empty, of the longest
/// one (a CPU that would idle pulls work).
Task* Engine::take_ready(Cpu& cpu) {
    if (queued_tasks_ == 0) return nullptr;
    Cpu* from = &cpu;
    if (cpu.queue.empty()) {
        if (options_.pinned) return nullptr;
        for (unsigned id = 0; id < allowed_cpus_; ++id) {
            if (cpus_[id].queue.size() > from->queue.size()) from = &cpus_[id];
        }
    }
    const auto least =
        std::min_element(from->queue.begin(), from->queue.end(), [](const Task* a, const Task* b) {
            return a->vruntime != b->vruntime ? a->vruntime < b->vruntime : a->worker < b->worker;
        });
    if (least == from->queue.end()) return nullptr;
    Task* task = *least;
    from->queue.erase(least);
    --queued_tasks_;
    if (from != &cpu) {
        ++cpu.counts.migrations;
        cpu.now += preset_.cycles_of_ns(preset_.migration_ns);
    }
    return task;
}

/// The CPU's task has left it: the next one comes, or the CPU idles.
void Engine::dispatch_next(Cpu& cpu) {
    cpu.task = nullptr;
    cpu.resched = false;
    Task* next = take_ready(cpu);
    if (next == nullptr) {
        set_busy(cpu, false);
        return;
    }
    put_on_cpu(cpu, *next, cpu.now + preset_.cycles_of_ns(preset_.context_switch_ns));
}

void Engine::requeue_current() {
    charge_run_time(*cpu_);
    running_->state = TaskState::ready;
    cpu_->queue.push_back(running_);
    ++queued_tasks_;
}

/// The current task stops until something wakes it.
void Engine::block(TaskState state) {
    charge_run_time(*cpu_);
    running_->state = state;
    ++cpu_->counts.context_switches;
    leave_cpu();
}

/// Where a woken task should run: where it ran, if that idles; an idle core; an idle thread; or
/// behind others where it ran.
Cpu& Engine::choose_cpu(const Task& task) {
    Cpu& last = *task.cpu;
    if (options_.pinned || last.task == nullptr || busy_cpus_ >= allowed_cpus_) return last;
    Cpu* best = nullptr;
    for (unsigned id = 0; id < allowed_cpus_; ++id) {
        Cpu& cpu = cpus_[id];
        if (cpu.task != nullptr) continue;
        const bool near = cpu.core->socket == last.core->socket;
        if (cpu.busy_siblings == 0 && near) return cpu;
        if (best == nullptr || (near && best->core->socket != last.core->socket)) best = &cpu;
    }
    return best == nullptr ? last : *best;
}

/// How long an idle CPU takes to leave its idle state, which it chose by how long it idled last
/// time; notes how long it has idled now.
Cycles Engine::idle_exit(Cpu& cpu, Cycles time) {
    const std::uint64_t last_ns = preset_.ns_of_cycles(cpu.last_idle);
    cpu.last_idle = sooner(time, cpu.now);
    const std::uint32_t exit_ns = last_ns >= preset_.idle3_residency_ns   ? preset_.idle3_exit_ns
                                  : last_ns >= preset_.idle2_residency_ns ? preset_.idle2_exit_ns
                                                                          : preset_.idle1_exit_ns;
    return preset_.cycles_of_ns(exit_ns);
}

void Engine::wake(Task& task, Cycles time, FutexResult result) {
    task.wait_result = result;
    task.timer = 0;
    Cpu& cpu = choose_cpu(task);
    if (cpu.task == nullptr) {
        Cycles ready = time + preset_.cycles_of_ns(preset_.wake_latency_ns) + idle_exit(cpu, time);
        if (&cpu != task.cpu) {
            ++cpu.counts.migrations;
            ready += preset_.cycles_of_ns(preset_.migration_ns);
        }
        put_on_cpu(cpu, task, ready);
        set_busy(cpu, true);
        return;
    }
    task.state = TaskState::ready;
    task.cpu = &cpu;
    cpu.queue.push_back(&task);
    ++queued_tasks_;
    const Task& current = *cpu.task;
    const Cycles current_vruntime = current.vruntime + sooner(time, current.charged_until);
    const Cycles credit = preset_.cycles_of_ns(preset_.sleeper_credit_ns);
    task.vruntime = std::max(task.vruntime, sooner(current_vruntime, credit));
    if (sooner(current_vruntime, task.vruntime) >
        preset_.cycles_of_ns(preset_.wakeup_granularity_ns)) {
        cpu.resched = true;
        cpu.next_event = 0;
        if (cpu.parked_line != no_line) unpark(cpu);
    }
}

/// An interrupt of the current CPU is due, or another task is to run on it.
void Engine::handle_event() {
    Cpu& cpu = *cpu_;
    if (cpu.now >= cpu.next_interrupt) {
        ++cpu.counts.interrupts;
        const std::uint64_t mean =
            preset_.cycles_of_ns(ns_per_second / std::max(preset_.timer_hz, 1u));
        charge_run_time(cpu);
        const std::uint64_t share =
            preset_.cycles_of_ns(preset_.sched_latency_ns) / (cpu.queue.size() + 1);
        const Cycles slice = std::max(share, preset_.cycles_of_ns(preset_.slice_ns));
        if (!cpu.queue.empty() && cpu.now - running_->slice_start >= slice) cpu.resched = true;
        cpu.next_interrupt = cpu.now + 1 + cpu.interrupts.exponential(mean);
        cpu.next_event = cpu.resched ? cpu.now : cpu.next_interrupt;
        cpu.now += preset_.cycles_of_ns(preset_.interrupt_ns);
        if (cpu.tx.open()) abort_self(AbortReason::interrupt);
        set_limits();
        return;
    }
    if (cpu.resched && !cpu.queue.empty()) {
        // A transaction does not survive the switch; it is rolled back first, and the switch
        // happens when the task is back in begin().
        if (cpu.tx.open()) abort_self(AbortReason::context_switch);
        ++cpu.counts.context_switches;
        ++cpu.counts.involuntary_switches;
        if (options_.observer != nullptr) {
            options_.observer->preempted(running_->worker, cpu.now);
        }
        requeue_current();
        leave_cpu();
        return;
    }
    cpu.resched = false;
    cpu.next_event = cpu.next_interrupt;
    set_limits();
}

/// Every system call: it ends a transaction, and it costs the way in and out.
void Engine::enter_kernel() {
    if (cpu_ == nullptr) throw WorkloadError("a system call outside a worker");
    give_way();
    if (cpu_->tx.open()) abort_self(AbortReason::system_call);
    cpu_->now += preset_.cycles_of_ns(preset_.system_call_ns);
}

void Engine::system_call(SystemCall kind) {
    enter_kernel();
    if (kind == SystemCall::map) cpu_->now += preset_.cycles_of_ns(preset_.page_fault_ns);
    give_way();
}

FutexResult Engine::futex_wait(const void* word, std::uint32_t expected, std::uint64_t timeout_ns) {
    enter_kernel();
    cpu_->now += preset_.cycles_of_ns(preset_.futex_wait_ns);
    give_way();
    access(word, {Access::load, sizeof expected});
    // The comparison and the enqueueing are one step with that load.
    if (*static_cast<const volatile std::uint32_t*>(word) != expected) {
        return FutexResult::value_changed;
    }
    ++cpu_->counts.futex_waits;
    running_->futex_offset = arena_.offset_of(word);
    futex_queues_[running_->futex_offset].push_back(running_);
    if (timeout_ns != forever_ns) {
        start_timer(*running_, cpu_->now + preset_.cycles_of_ns(timeout_ns));
    }
    if (options_.observer != nullptr) {
        options_.observer->waits(running_->worker, cpu_->now, running_->futex_offset);
    }
    block(TaskState::waiting);
    return running_->wait_result;
}

std::uint32_t Engine::futex_wake(const void* word, std::uint32_t count) {
    enter_kernel();
    cpu_->now += preset_.cycles_of_ns(preset_.futex_wake_ns);
    give_way();
    const auto found = futex_queues_.find(arena_.offset_of(word));
    if (found == futex_queues_.end()) return 0;
    std::vector<Task*>& waiters = found->second;
    const auto woken = static_cast<std::uint32_t>(std::min<std::size_t>(waiters.size(), count));
    for (std::uint32_t i = 0; i < woken; ++i) {
        cpu_->now += preset_.cycles_of_ns(preset_.wake_task_ns);
        ++cpu_->counts.futex_wakes;
        wake(*waiters[i], cpu_->now, FutexResult::woken);
    }
    waiters.erase(waiters.begin(), waiters.begin() + woken);
    set_limits();
    return woken;
}

void Engine::start_timer(Task& task, Cycles time) {
    task.timer = ++timer_number_;
    timers_.push_back({time, task.timer, &task});
    std::push_heap(timers_.begin(), timers_.end());
    next_timer_ = timers_.front().time;
}

/// Wakes every task whose timer is not later than the next CPU's turn.
void Engine::fire_timers() {
    while (!timers_.empty() &&
           (turns_.empty() || timers_.front().time <= TurnTree::time_of(turns_.top()))) {
        const Timer timer = timers_.front();
        std::pop_heap(timers_.begin(), timers_.end());
        timers_.pop_back();
        next_timer_ = timers_.empty() ? no_timer : timers_.front().time;
        Task& task = *timer.task;
        if (task.timer != timer.number) continue;  // it was woken before
        if (task.state == TaskState::waiting) {
            std::vector<Task*>& waiters = futex_queues_[task.futex_offset];
            waiters.erase(std::find(waiters.begin(), waiters.end(), &task));
        }
        turn_time_ = timer.time;
        turn_cpu_ = -1;  // before every CPU's step at that time
        wake(task, timer.time, FutexResult::timed_out);
    }
}

void Engine::sleep_for(Cycles duration) {
    enter_kernel();
    give_way();
    start_timer(*running_, cpu_->now + duration);
    if (options_.observer != nullptr) options_.observer->sleeps(running_->worker, cpu_->now);
    block(TaskState::sleeping);
}

void Engine::yield() {
    enter_kernel();
    give_way();
    if (cpu_->queue.empty()) return;
    for (const Task* other : cpu_->queue) {
        running_->vruntime = std::max(running_->vruntime, other->vruntime);
    }
    ++cpu_->counts.context_switches;
    if (options_.observer != nullptr) options_.observer->preempted(running_->worker, cpu_->now);
    requeue_current();
    // The one that yields goes behind the others even where they tie.
    running_->vruntime += 1;
    leave_cpu();
}

void Engine::pause() {
    if (cpu_->tx.open()) {
        give_way();
        abort_self(AbortReason::pause);
    }
    compute(preset_.pause_cycles);
}

void Engine::fence() {
    if (cpu_ != nullptr) compute(preset_.locked_cycles);
}

/// Work between accesses, split where an event of the CPU is due.
void Engine::compute(std::uint64_t cycles) {
    if (cpu_ == nullptr) return;
    if (cpu_->busy_siblings != 0) cycles += cycles * preset_.smt_slowdown_pct / 100;
    while (cycles != 0) {
        Cpu& cpu = *cpu_;
        const std::uint64_t step =
            std::min(cycles, cpu.next_event > cpu.now ? cpu.next_event - cpu.now : 0);
        cpu.now += step;
        cycles -= step;
        if (cpu.now >= cpu.next_event) give_way();
    }
}

std::uint64_t Engine::now_ns() const {
    return preset_.ns_of_cycles(cpu_ != nullptr ? cpu_->now : clock_);
}

void* Engine::allocate(std::size_t size, std::size_t alignment) {
    if (cpu_ == nullptr) return arena_.allocate(size, alignment, 0, nullptr);
    cpu_->now += preset_.allocation_cycles;
    return arena_.allocate(size, alignment, running_->worker,
                           cpu_->tx.open() ? &cpu_->tx.arena : nullptr);
}

void Engine::deallocate(void* place, std::size_t size, std::size_t alignment) {
    if (cpu_ == nullptr) {
        arena_.deallocate(place, size, alignment, 0, nullptr);
        return;
    }
    cpu_->now += preset_.allocation_cycles;
    arena_.deallocate(place, size, alignment, running_->worker,
                      cpu_->tx.open() ? &cpu_->tx.arena : nullptr);
}

void Engine::describe(const void* place, std::size_t size, std::string_view name) {
    arena_.describe(place, size, name);
}

}  // namespace abortscope::model
