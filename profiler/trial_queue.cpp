// SPDX-License-Identifier: Apache-2.0
#include "profiler/trial_queue.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "profiler/doorbell.hpp"
#include "profiler/machine_names.hpp"

namespace abortscope {
namespace {

std::atomic<bool> left_behind{false};

}  // namespace

struct TrialQueue::State {
    struct Slot {
        std::optional<TrialResult> result;
        std::exception_ptr failure;
        bool done = false;
    };

    std::vector<Trial> trials;
    Run run;

    std::mutex mutex;
    std::condition_variable may_start;
    std::vector<Slot> slots;
    std::size_t next_to_start = 0;
    std::size_t running = 0;
    bool native_running = false;
    bool stopped = false;  ///< by a failure or the destructor

    std::atomic<bool> interrupted{false};
    Doorbell doorbell;

    std::vector<std::thread> threads;

    bool over() const { return stopped || interrupted.load() || next_to_start == trials.size(); }
    bool can_start() const {
        const bool native = is_native(trials[next_to_start].spec.machine);
        return native ? running == 0 : !native_running;
    }
    void work();
};

static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler stores one");

void TrialQueue::State::work() {
    std::unique_lock lock(mutex);
    while (true) {
        may_start.wait(lock, [&] { return over() || can_start(); });
        if (over()) return;
        const std::size_t number = next_to_start++;
        const bool native = is_native(trials[number].spec.machine);
        ++running;
        native_running = native;
        lock.unlock();

        Slot slot;
        try {
            slot.result = run(trials[number]);
        } catch (...) {
            slot.failure = std::current_exception();
        }
        slot.done = true;

        lock.lock();
        --running;
        if (native) native_running = false;
        // The trials before this one have started, so its failure is reported after their results.
        if (slot.failure) stopped = true;
        slots[number] = std::move(slot);
        may_start.notify_all();
        doorbell.ring();
    }
}

TrialQueue::TrialQueue(std::vector<Trial> trials, unsigned jobs, Run run)
    : state_(std::make_shared<State>()) {
    state_->slots.resize(trials.size());
    state_->trials = std::move(trials);
    state_->run = std::move(run);
    const std::size_t threads = std::min<std::size_t>(jobs, state_->trials.size());
    for (std::size_t i = 0; i < threads; ++i) {
        state_->threads.emplace_back([state = state_] { state->work(); });
    }
}

TrialQueue::~TrialQueue() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopped = true;
    }
    state_->may_start.notify_all();
    for (std::thread& thread : state_->threads) {
        if (interrupted()) {
            left_behind.store(true);
            thread.detach();
        } else {
            thread.join();
        }
    }
    state_->threads.clear();
}

std::optional<TrialResult> TrialQueue::next(const std::function<void()>& idle) {
    while (next_ < state_->trials.size()) {
        {
            const std::lock_guard lock(state_->mutex);
            State::Slot& slot = state_->slots[next_];
            if (slot.done) {
                if (slot.failure) std::rethrow_exception(slot.failure);
                ++next_;
                return std::move(slot.result);
            }
        }
        if (interrupted()) {
            ++next_;
        } else if (!idle) {
            state_->doorbell.wait();
        } else if (!state_->doorbell.wait_a_second()) {
            idle();
        }
    }
    return std::nullopt;
}

void TrialQueue::interrupt() noexcept {
    state_->interrupted.store(true);
    state_->doorbell.ring();
}

bool TrialQueue::interrupted() const noexcept {
    return state_->interrupted.load();
}

bool trials_left_behind() noexcept {
    return left_behind.load();
}

std::size_t TrialQueue::size() const {
    return state_->trials.size();
}

}  // namespace abortscope
