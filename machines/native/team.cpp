// SPDX-License-Identifier: Apache-2.0
#include "machines/native/team.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "machines/native/affinity.hpp"
#include "machines/native/gate.hpp"
#include "machines/native/native_machine.hpp"

namespace abortscope::native {
namespace {

/// What one worker and the team tell each other; on lines of its own, since the phase's end is
/// written while other workers still run the body.
struct alignas(128) Slot {
    std::atomic<std::uint32_t> phase{
        0};  ///< number of the last phase handed out; the worker sleeps on it
    std::uint64_t end_ns = 0;
    std::exception_ptr failure;
};

/// What the workers of the current phase run. Written while all of them sleep.
struct Job {
    unsigned count = 0;
    const std::function<void(unsigned)>* body = nullptr;  ///< null: the thread ends
    WorkerHooks* hooks = nullptr;
};

}  // namespace

struct Team::State {
    explicit State(unsigned workers) : logs(workers), slots(workers) { threads.reserve(workers); }
    ~State() { stop(); }

    void serve(unsigned worker);
    void run_job(unsigned worker);
    void hand_out(unsigned count);
    void stop();

    std::vector<AbortLog> logs;
    std::vector<Slot> slots;
    std::vector<std::thread> threads;
    std::uint32_t phase = 0;
    Job job;
    Gate awake;
    Gate release;
    std::uint64_t start_ns = 0;
    alignas(128) std::atomic<std::uint32_t> unfinished{0};
};

void Team::State::serve(unsigned worker) {
    ThisThread& self = this_thread();
    self.worker = worker;
    self.team_log = &logs[worker];
    pthread_setname_np(pthread_self(), ("worker-" + std::to_string(worker)).c_str());

    std::atomic<std::uint32_t>& handed_out = slots[worker].phase;
    for (std::uint32_t done = 0;; ++done) {
        // The numbers of a worker's slot grow by one for each phase it takes part in.
        while (handed_out.load(std::memory_order_acquire) == done) futex_wait(handed_out, done);
        if (job.body == nullptr) return;
        run_job(worker);
        // The last one wakes the team. A worker must not touch `job` from here on.
        if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) futex_wake(unfinished, 1);
    }
}

void Team::State::run_job(unsigned worker) {
    Slot& slot = slots[worker];
    awake.arrive_and_wait(job.count, [] {});
    if (job.hooks != nullptr) job.hooks->before(worker);
    release.arrive_and_wait(job.count, [this] { start_ns = NativeMachine::now_ns(); });
    try {
        (*job.body)(worker);
    } catch (...) {
        slot.failure = std::current_exception();
    }
    slot.end_ns = NativeMachine::now_ns();
    if (job.hooks != nullptr) job.hooks->after(worker);
}

void Team::State::hand_out(unsigned count) {
    for (unsigned worker = 0; worker < count; ++worker) {
        slots[worker].phase.fetch_add(1, std::memory_order_release);
        futex_wake(slots[worker].phase, 1);
    }
}

void Team::State::stop() {
    job = Job{};
    hand_out(static_cast<unsigned>(threads.size()));
    for (std::thread& thread : threads) thread.join();
    threads.clear();
}

Team::Team(unsigned workers, std::span<const unsigned> cpus)
    : state_(std::make_unique<State>(workers)) {
    if (workers == 0) throw std::invalid_argument("a team needs at least one worker");
    for (unsigned worker = 0; worker < workers; ++worker) {
        State& state = *state_;
        state.threads.emplace_back([&state, worker] { state.serve(worker); });
        if (!cpus.empty()) {
            pin_thread(state.threads.back().native_handle(), cpus[worker % cpus.size()]);
        }
    }
}

Team::~Team() = default;

std::uint64_t Team::run(unsigned count, const std::function<void(unsigned)>& body,
                        WorkerHooks* hooks) {
    State& state = *state_;
    if (count == 0 || count > state.threads.size()) {
        throw std::invalid_argument("a phase of " + std::to_string(count) +
                                    " workers in a team of " +
                                    std::to_string(state.threads.size()));
    }
    state.job = Job{count, &body, hooks};
    state.unfinished.store(count, std::memory_order_relaxed);
    state.hand_out(count);
    for (;;) {
        const std::uint32_t left = state.unfinished.load(std::memory_order_acquire);
        if (left == 0) break;
        futex_wait(state.unfinished, left);
    }

    std::uint64_t end_ns = state.start_ns;
    std::exception_ptr failure;
    for (unsigned worker = 0; worker < count; ++worker) {
        Slot& slot = state.slots[worker];
        end_ns = std::max(end_ns, slot.end_ns);
        if (failure == nullptr) failure = slot.failure;
        slot.failure = nullptr;
    }
    if (failure != nullptr) std::rethrow_exception(failure);
    return end_ns - state.start_ns;
}

std::span<AbortLog> Team::logs() {
    return state_->logs;
}

}  // namespace abortscope::native
