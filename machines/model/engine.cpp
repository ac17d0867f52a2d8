// SPDX-License-Identifier: Apache-2.0
#include "machines/model/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machines/model/heap_guard.hpp"
#include "machines/model/turn.hpp"

namespace abortscope::model {
namespace {

constexpr std::uint64_t page_bytes = 4096;

// Streams of the seed: one generator a purpose, so that a draw more here shifts nothing there.
constexpr std::uint64_t stagger_stream = 1;
constexpr std::uint64_t jitter_stream = 1000;
constexpr std::uint64_t interrupt_stream = 2000;
constexpr std::uint64_t injection_stream = 3000;

}  // namespace

Engine::Engine(const Preset& preset, const EngineOptions& options)
    : preset_(preset),
      options_(options),
      arena_(options.arena_bytes, options.workers),
      touched_(options.arena_bytes / page_bytes),
      directory_(options.arena_bytes / line_bytes),
      memory_(preset_, directory_),
      attribution_(preset.l1_sets, preset.l1_ways),
      cpus_(preset.hardware_threads()),
      tasks_(options.workers),
      turns_(preset.hardware_threads()),
      allowed_cpus_(options.cpus == 0 ? preset.hardware_threads()
                                      : std::min(options.cpus, preset.hardware_threads())),
      stagger_(options.seed, stagger_stream) {
    base_ = arena_.base();
    for (std::uint16_t id = 0; id < cpus_.size(); ++id) {
        Cpu& cpu = cpus_[id];
        cpu.id = id;
        cpu.core = &memory_.core(memory_.core_of_cpu(id));
        cpu.thread = memory_.thread_of_cpu(id);
        cpu.jitter = Random(options.seed, jitter_stream + id);
        cpu.interrupts = Random(options.seed, interrupt_stream + id);
        cpu.injection = Random(options.seed, injection_stream + id);
        cpu.tx.place.resize(cpu.core->l1.tags.slots());
        cpu.background = &cpu.core->background.clock(cpu.thread);
        set_rules(cpu);
        cpu.rules = cpu.rules_outside.data();
    }
    for (unsigned worker = 0; worker < options.workers; ++worker) {
        tasks_[worker].worker = worker;
        tasks_[worker].fiber = std::make_unique<Fiber>(&Engine::fiber_entry, &tasks_[worker]);
    }
}

// Also what links the trap for the host's heap into every program that has an engine.
Engine::~Engine() {
    const HostHeapAllowed allowed;
}

EventCounts Engine::counts() const {
    EventCounts sum;
    for (const Cpu& cpu : cpus_) {
        sum += cpu.counts;
        sum.accesses += cpu.background->accesses();
    }
    return sum;
}

Cycles Engine::run(unsigned count, const std::function<void(unsigned)>& body) {
    body_ = &body;
    const Cycles start = clock_;
    for (Cpu& cpu : cpus_) cpu.now = start;
    for (unsigned worker = 0; worker < count; ++worker) {
        Task& task = tasks_[worker];
        task.fiber->restart(&Engine::fiber_entry, &task);
        task.vruntime = 0;
        task.cpu = &cpus_[worker % allowed_cpus_];
        task.error = nullptr;
        task.site = "";
        if (task.cpu->task == nullptr) {
            // Threads are not created at one instant; without this they would march in step.
            const Cycles stagger =
                count > 1 ? stagger_.below(preset_.cycles_of_ns(preset_.start_stagger_ns) + 1) : 0;
            put_on_cpu(*task.cpu, task, start + stagger);
            set_busy(*task.cpu, true);
        } else {
            task.state = TaskState::ready;
            task.cpu->queue.push_back(&task);
            ++queued_tasks_;
        }
    }

    reach_ = arena_.capacity();
    bool failed = false;
    while (!failed && pick_next()) {
        request_ = Request::none;
        Fiber::switch_to(host_, *running_->fiber);
        if (request_ == Request::roll_back) {
            running_->fiber->roll_back();
            turns_.insert(TurnTree::key(cpu_->now, cpu_->id));
        }
        failed = request_ == Request::failed || request_ == Request::deadlock;
    }
    reach_ = 0;
    cpu_ = nullptr;
    running_ = nullptr;
    body_ = nullptr;

    Cycles end = start;
    for (unsigned worker = 0; worker < count; ++worker) {
        if (tasks_[worker].error) std::rethrow_exception(tasks_[worker].error);
    }
    for (unsigned worker = 0; worker < count; ++worker) {
        if (tasks_[worker].state != TaskState::finished) throw Deadlock(describe_deadlock());
        end = std::max(end, tasks_[worker].ended);
    }
    clock_ = end;
    return end - start;
}

void Engine::fiber_entry(void* argument) {
    current_->run_worker(*static_cast<Task*>(argument));
}

void Engine::run_worker(Task& task) {
    try {
        (*body_)(task.worker);
        if (cpu_->tx.open()) throw WorkloadError("a worker ended inside a transaction");
    } catch (...) {
        task.error = std::current_exception();
    }
    // Outside the handler: a fiber never gives way inside one.
    if (task.error) to_host(Request::failed);
    give_way();
    task.state = TaskState::finished;
    task.ended = cpu_->now;
    if (options_.observer != nullptr) options_.observer->ended(task.worker, cpu_->now);
    leave_cpu();
}

/// The current task has left its CPU: the CPU takes up another one or idles, and whoever's turn it
/// is runs. Returns only when the task is resumed.
void Engine::leave_cpu() {
    dispatch_next(*cpu_);
    fire_timers();
    if (turns_.empty()) {
        to_host(Request::none);
        return;
    }
    enter(cpus_[TurnTree::cpu_of(turns_.pop())]);
}

/// From the host's stack: the CPU whose turn it is, or false when nothing can run.
bool Engine::pick_next() {
    fire_timers();
    if (turns_.empty()) return false;
    cpu_ = &cpus_[TurnTree::cpu_of(turns_.pop())];
    running_ = cpu_->task;
    set_limits();
    note_turn();
    return true;
}

void Engine::to_host(Request request) {
    request_ = request;
    Fiber::switch_to(*running_->fiber, host_);
}

std::string Engine::describe_deadlock() const {
    std::string text = "deadlock: every worker waits";
    constexpr unsigned shown = 8;
    unsigned waiting = 0;
    for (const Task& task : tasks_) {
        std::uint64_t offset = task.futex_offset;
        const char* how = "sleeps";
        if (task.state == TaskState::running && task.cpu->parked_line != no_line) {
            offset = std::uint64_t{task.cpu->parked_line} * line_bytes;
            how = "spins";
        } else if (task.state != TaskState::waiting) {
            continue;
        }
        if (++waiting > shown) continue;
        const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(base_ + offset);
        const std::uint16_t writer =
            const_cast<Directory&>(directory_)[static_cast<LineId>(offset / line_bytes)]
                .last_writer_plus1;
        text += fmt::format("; worker {} {} on {} (value {}, ", task.worker, how,
                            arena_.name_of(offset), static_cast<std::int32_t>(word));
        text += writer == nobody ? std::string("never written)")
                                 : fmt::format("line last written by worker {})", writer - 1);
    }
    if (waiting > shown) text += fmt::format("; and {} more", waiting - shown);
    return text;
}

}  // namespace abortscope::model
