// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine: CPUs with virtual time, caches, RTM, and an operating system's scheduler,
// all on one host thread, so that a trial is a pure function of its parameters and its seed.
//
//   engine.cpp   workers, deadlock                         turn.hpp    whose turn it is
//   access.cpp   one memory access                         spin.cpp    parked spinners
//   rtm.cpp      begin, commit, abort, rollback            kernel.cpp  futexes, sleep, preemption
//
// Whose turn it is: the CPU with the smallest virtual time, ties by number. A running worker may
// go on past the others' time by at most `lookahead_cycles`, and only
//   - over begins, and in a transaction over any hits in its own L1: one that turns out to stand in
//     the way of a step of another CPU at an earlier time is taken back (rtm.cpp);
//   - over hits in its own L1 that no transaction can notice. They cannot be taken back, so in a
//     line that cores take from each other only by `shared_lookahead_cycles`.
// For anything else it first gives way.
//
// An access is one step: give way, then resolve conflicts, move the line, note the undo value and
// let the caller load or store, with nothing in between.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "machines/model/arena.hpp"
#include "machines/model/attribution.hpp"
#include "machines/model/event_counts.hpp"
#include "machines/model/fiber.hpp"
#include "machines/model/memory_system.hpp"
#include "machines/model/preset.hpp"
#include "machines/model/transaction.hpp"
#include "machines/model/turn_tree.hpp"
#include "machines/random.hpp"
#include "primitives/machine.hpp"

namespace abortscope::model {

/// Every worker sleeps and nothing will wake one: what() says who waits where, and who wrote the
/// word last.
class Deadlock : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The workload did what no hardware allows: XEND outside a transaction, an access outside the
/// arena.
class WorkloadError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

struct EngineOptions {
    unsigned workers = 1;
    std::uint64_t seed = 1;
    unsigned cpus = 0;    ///< CPUs that workers may use; 0: all
    bool pinned = false;  ///< worker i stays on its first CPU
    std::uint64_t arena_bytes = std::uint64_t{16} << 30;
    /// Aborts injected at accesses inside transactions, per million, for the rollback audit.
    std::uint32_t injected_aborts_ppm = 0;
    /// Whether spinning workers are parked; off only to test that it changes nothing.
    bool park_spinners = true;
    Observer* observer = nullptr;  ///< not owned; null: nobody watches
};

/// One access, but for its place.
struct Operation {
    Access kind;
    std::uint8_t bytes;
};

struct Cpu;

enum class TaskState : std::uint8_t { idle, ready, running, waiting, sleeping, finished };

struct Task {
    unsigned worker = 0;
    TaskState state = TaskState::idle;
    std::unique_ptr<Fiber> fiber;
    Cpu* cpu = nullptr;  ///< where it runs, or ran last
    rtm::Status begin_result;
    FutexResult wait_result = FutexResult::woken;
    std::uint64_t futex_offset = 0;
    std::uint64_t timer = 0;   ///< number of its pending timer; 0: none
    Cycles vruntime = 0;       ///< time it has run, as the scheduler's fairness counts it
    Cycles charged_until = 0;  ///< up to when vruntime has counted
    Cycles slice_start = 0;    ///< when it was put on its CPU
    Cycles ended = 0;
    const char* site = "";  ///< what the workload says it is doing
    std::exception_ptr error;
    AbortLog log;
};

/// Which hits of one kind may run ahead, and what they cost.
struct HitRule {
    SlotState mask = 0;
    SlotState wanted = 1;  ///< those where (state & mask) == wanted
    std::uint16_t cost = 0;
    bool noted = false;  ///< the own transaction or an observer keeps account of it

    bool admits(SlotState state) const { return (state & mask) == wanted; }
};

struct Cpu {
    Cycles now = 0;
    Cycles next_event = 0;  ///< the interrupt, or `now` at once if another task must run
    Core* core = nullptr;
    Background::Clock* background = nullptr;
    std::uint16_t id = 0;
    std::uint8_t thread = 0;  ///< which of its core's threads
    bool resched = false;
    std::array<HitRule, 3> rules_outside{};  ///< by Access, out of transactions
    std::array<HitRule, 3> rules_inside{};   ///< and inside
    const HitRule* rules = nullptr;          ///< those that hold now
    std::uint32_t busy_siblings = 0;
    LineId parked_line = no_line;  ///< the line that its spinning worker is parked on
    Task* task = nullptr;          ///< null: idle
    Cycles next_interrupt = 0;
    Cycles busy_since = 0;
    Cycles last_idle = 0;  ///< how long it idled the last time
    // While parked: when the loop's next load is due, how often it comes, what has been skipped.
    Cycles parked_since = 0;
    Cycles parked_period = 0;
    std::uint64_t skipped_rounds = 0;
    bool parked_for_ever = false;  ///< only a change of the line ends the spin
    EventCounts counts;            ///< its accesses: those that the background clock does not count
    Transaction tx;
    std::vector<Task*> queue;  ///< ready tasks that wait for this CPU
    Random jitter{0};
    Random interrupts{0};
    Random injection{0};

    std::uint64_t accesses() const { return background->accesses() + counts.accesses; }
    void open_transaction(const void* elided) {
        tx.start(now, elided, accesses());
        rules = rules_inside.data();
    }
    void close_transaction() {
        tx.forget();
        rules = rules_outside.data();
    }
    /// With the slow-down by busy siblings.
    Cycles hit_cost(Access kind) const {
        return rules_outside[static_cast<std::size_t>(kind)].cost;
    }
};

class Engine {
  public:
    Engine(const Preset& preset, const EngineOptions& options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// The engine of this host thread, or null.
    static Engine* current() { return current_; }
    /// Makes an engine current for a scope of the host thread.
    class Scope {
      public:
        explicit Scope(Engine& engine) : previous_(current_) { current_ = &engine; }
        ~Scope() { current_ = previous_; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        Engine* previous_;
    };

    const Preset& preset() const { return preset_; }

    /// Runs body(worker) on workers 0..count-1 and returns the cycles from the first start to the
    /// last end. Throws Deadlock, or the exception of the first worker that threw; the engine is
    /// of no further use then.
    Cycles run(unsigned count, const std::function<void(unsigned)>& body);

    /// Counts of all CPUs since the engine was made.
    EventCounts counts() const;
    AbortLog& log(unsigned worker) { return tasks_[worker].log; }
    unsigned workers() const { return static_cast<unsigned>(tasks_.size()); }

    // What ModelMachine calls. All of these run on a worker's fiber, except where noted.
    void access(const void* place, Operation op);  // also outside a run: untimed
    /// The second half of a load-linked pair (Preset::load_linked): the store, if the line is still
    /// in L1 since the load; false: another core has taken it, and nothing was stored.
    bool store_exclusive(const void* place, unsigned size);
    rtm::Status begin(const void* lock);
    void commit();
    [[noreturn]] void abort_explicitly(std::uint8_t code);
    bool in_transaction() const { return cpu_ != nullptr && cpu_->tx.open(); }
    void pause();
    /// A load of a spin loop: as `access`, but it does not count towards background lines.
    void spin_load(const void* place, unsigned size);
    /// The pause of a spin loop that has just loaded the word and found `seen`. While the line
    /// stays in L1 unchanged, the worker is parked: the loop's further loads and pauses, at most
    /// `most` pauses in all, are accounted for without being executed, exactly. Returns how many
    /// pauses passed, at least 1.
    std::uint32_t spin_pause(const void* place, unsigned size, std::uint64_t seen,
                             std::uint32_t most);
    void fence();
    void compute(std::uint64_t cycles);
    std::uint64_t now_ns() const;
    void sleep_for(Cycles duration);
    FutexResult futex_wait(const void* word, std::uint32_t expected, std::uint64_t timeout_ns);
    std::uint32_t futex_wake(const void* word, std::uint32_t count);
    void yield();
    void system_call(SystemCall kind);
    void* allocate(std::size_t size, std::size_t alignment);  // also outside a run
    void deallocate(void* place, std::size_t size, std::size_t alignment);
    void describe(const void* place, std::size_t size, std::string_view name);
    unsigned this_worker() const { return running_ != nullptr ? running_->worker : 0; }
    AbortLog& this_log() { return tasks_[this_worker()].log; }

    /// Labels what this worker does from here on, for attribution; a string literal.
    void site(const char* label) {
        if (running_ != nullptr) running_->site = label;
    }

    /// Tells the observer.
    void lock_step(LockStep step, const void* lock);

    Arena& arena() { return arena_; }
    const Arena& arena() const { return arena_; }
    /// Why transactions aborted since the engine was made, by line.
    const Attribution& attribution() const { return attribution_; }

  private:
    struct Timer {
        Cycles time;
        std::uint64_t number;
        Task* task;
        bool operator<(const Timer& other) const {  // std::push_heap keeps the largest on top
            return time != other.time ? time > other.time : number > other.number;
        }
    };
    static constexpr Cycles no_timer = ~Cycles{0};
    enum class Request : std::uint8_t { none, roll_back, failed, deadlock };

    // engine.cpp
    static void fiber_entry(void* task);
    void run_worker(Task& task);
    bool pick_next();
    void enter(Cpu& next);
    void give_way();
    void note_turn();
    void switch_away();
    void set_limits();
    void set_hit_limits();
    void leave_cpu();
    void to_host(Request request);
    std::string describe_deadlock() const;

    // access.cpp
    void access_outside(std::uint64_t offset);
    void access_after_background(std::uint64_t offset, Operation op);
    void hit_or_miss(std::uint64_t offset, Operation op);
    void access_earlier(std::uint64_t offset, Operation op);
    void hit_earlier(std::uint64_t offset, Operation op, std::uint32_t slot);
    void admit(std::uint64_t offset, Operation op, std::uint32_t slot, bool latest);
    void noted_hit(std::uint64_t offset, Operation op, std::uint32_t slot, std::uint32_t cost);
    void slow_access(std::uint64_t offset, Operation op, std::uint32_t slot);
    void await_page(std::uint64_t offset);
    Cycles await_turn(LineId line, Access kind, std::uint32_t& slot);
    Cycles await_line(LineId line, Access kind);
    void take_line(std::uint64_t offset, Operation op, std::uint32_t slot, Cycles queued);
    void resolve_conflicts(Cpu& cpu, std::uint64_t offset, unsigned size, bool write);
    void abort_conflicting(Cpu& cpu, std::uint64_t offset, unsigned size, bool write);
    void settle_casualties(Cpu& cpu);
    void observe(std::uint64_t offset, Operation op);
    void note_in_transaction(Cpu& cpu, std::uint32_t slot, std::uint64_t offset, Operation op,
                             Cycles time);
    void log_undo(Transaction& tx, std::uint64_t offset, unsigned size);
    void touch_page(Cpu& cpu, std::uint64_t offset);

    // spin.cpp
    bool park(Cpu& cpu, LineId line, std::uint32_t most);
    void unpark(Cpu& cpu);
    void end_watch(Cpu& cpu);
    void settle_watches();

    // rtm.cpp
    static SlotState* state_in_l1(const Cpu& cpu, const TxLine& entry);
    void forget_read(const Cpu& cpu, TxLine& entry);
    void forget_write(const Cpu& cpu, TxLine& entry);
    void undo_stores(const Transaction& tx);
    void roll_back(Cpu& cpu, AbortEvent& event);
    void take_back(Cpu& victim);
    bool precedes_step(const Cpu& cpu, Cycles time) const;
    bool had_touched(const Cpu& victim, const AbortEvent& event) const;
    void abort_other(Cpu& victim, AbortEvent& event);
    [[noreturn]] void abort_self(AbortReason reason);
    [[noreturn]] void abort_self(AbortEvent& event);
    void attribute(const Cpu& cpu, AbortEvent& event);
    std::uint64_t lock_offset(const Transaction& tx) const;
    void release_lines(Cpu& cpu, bool keep_writes);

    // kernel.cpp
    void handle_event();
    void charge_run_time(Cpu& cpu);
    void wake(Task& task, Cycles time, FutexResult result);
    Cycles idle_exit(Cpu& cpu, Cycles time);
    Cpu& choose_cpu(const Task& task);
    void put_on_cpu(Cpu& cpu, Task& task, Cycles time);
    void dispatch_next(Cpu& cpu);
    Task* take_ready(Cpu& cpu);
    void requeue_current();
    void block(TaskState state);
    void start_timer(Task& task, Cycles time);
    void fire_timers();
    void set_busy(Cpu& cpu, bool busy);
    void set_rules(Cpu& cpu);
    void enter_kernel();

    static inline constinit thread_local Engine* current_ = nullptr;

    // Read by every access, so they come first.
    char* base_;
    std::uint64_t reach_ = 0;  ///< bytes of the arena that an access may touch; 0 outside a run
    Cpu* cpu_ = nullptr;       ///< the CPU whose turn it is; null outside a run
    Task* running_ = nullptr;
    /// A hit that may run ahead may happen before this time; the second one is for contested lines.
    std::array<Cycles, 2> hit_limits_{};
    Cycles miss_limit_ = 0;    ///< anything else before this one
    Cycles strict_limit_ = 0;  ///< when another CPU's turn comes
    // Where in the order of all steps the current one stands: every change that others can notice
    // comes after a give_way, which notes its time and CPU here.
    Cycles turn_time_ = 0;
    int turn_cpu_ = -1;

    Preset preset_;
    EngineOptions options_;
    Arena arena_;
    ZeroedMemory touched_;  ///< one byte a page
    Directory directory_;
    MemorySystem memory_;
    Attribution attribution_;
    std::uint64_t aborts_ = 0;
    std::vector<Cpu> cpus_;
    std::vector<Task> tasks_;
    TurnTree turns_;
    std::vector<Timer> timers_;
    Cycles next_timer_ = no_timer;
    std::uint64_t timer_number_ = 0;
    std::unordered_map<std::uint64_t, std::vector<Task*>> futex_queues_;
    unsigned allowed_cpus_;
    unsigned queued_tasks_ = 0;
    unsigned busy_cpus_ = 0;
    unsigned parked_for_ever_ = 0;
    Cycles clock_ = 0;  ///< when the last run ended
    Fiber host_;
    Request request_ = Request::none;
    const std::function<void(unsigned)>* body_ = nullptr;
    Random stagger_;
};

}  // namespace abortscope::model
