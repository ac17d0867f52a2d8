// SPDX-License-Identifier: Apache-2.0
//
// A Machine for tests, one worker, whose transactions do what a script says.
//
// run(body) runs the body on a stack of its own. begin() takes the next outcome of the script: an
// abort status is returned at once; started() (or an empty script) opens a transaction. A
// transaction that aborts later (abort<code>(), a pause, a system call, a futex call, abort_now)
// undoes every store to an Atomic or Cell, puts the stack back as it was at the outermost begin,
// and returns from it a second time, as the hardware does. What a test body captures by reference
// lies on the host's stack and is not undone: counters of executions belong there.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "primitives/machine.hpp"
#include "tests/primitives/thread_sanitizer.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ABORTSCOPE_TEST_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ABORTSCOPE_TEST_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(ABORTSCOPE_TEST_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace abortscope::testing {

class ScriptedMachine {
  public:
    static constexpr std::string_view name = "scripted";
    static constexpr unsigned max_nesting = 7;

    template <class T>
    class Atomic;
    template <class T>
    class Cell;

    /// What a test sets before, and reads after.
    struct Script {
        bool rtm = true;
        std::deque<rtm::Status> outcomes;       ///< of the next begins
        std::function<void()> on_pause;         ///< runs at each pause outside transactions
        std::function<void()> on_futex_wait;    ///< instead of sleeping
        std::deque<FutexResult> futex_results;  ///< of the next waits that sleep; then woken
        unsigned worker = 0;
        AbortLog log;
        unsigned begins = 0;   ///< outermost ones
        unsigned commits = 0;  ///< outermost ones
        unsigned deepest_nesting = 0;
        std::uint64_t pauses = 0;
        unsigned futex_wakes = 0;
    };
    static Script& script() { return state().script; }

    /// Forgets everything, then runs `body` to its end. A body that throws ends the run with it.
    static void run(std::function<void()> body);
    static void reset() { state() = State{}; }

    /// The transaction aborts here with this status; nothing happens outside one.
    static void abort_now(rtm::Status status);
    static unsigned nesting() { return state().nesting; }

    // --- the Machine concept ---
    static void fence(std::memory_order) {}
    static bool rtm_available() { return script().rtm; }
    static rtm::Status begin(const void* lock = nullptr);
    static void commit();
    template <std::uint8_t Code>
    static void abort() {
        abort_now(rtm::Status::explicit_abort(Code));
    }
    static bool in_transaction() { return nesting() > 0; }
    static void pause() {
        abort_now(rtm::Status::unspecified());
        ++script().pauses;
        if (script().on_pause) script().on_pause();
    }
    static void compute(std::uint64_t) {}
    static std::uint64_t now_ns() { return ++state().now_ns; }
    static void sleep_for_ns(std::uint64_t) { abort_now(rtm::Status::unspecified()); }
    template <class T, class Predicate>
    static T spin_until(const Atomic<T>& word, Predicate done,
                        std::uint32_t max_pauses = unbounded) {
        for (std::uint32_t pauses = 0;; ++pauses) {
            const T value = word.load(std::memory_order_acquire);
            if (done(value) || (pauses == max_pauses && max_pauses != unbounded)) return value;
            pause();
        }
    }
    static FutexResult futex_wait(Atomic<std::uint32_t>& word, std::uint32_t expected,
                                  std::uint64_t timeout_ns = forever_ns);
    static std::uint32_t futex_wake(Atomic<std::uint32_t>&, std::uint32_t) {
        abort_now(rtm::Status::unspecified());
        ++script().futex_wakes;
        return 0;
    }
    static void yield() { abort_now(rtm::Status::unspecified()); }
    static void system_call(SystemCall) { abort_now(rtm::Status::unspecified()); }
    static void* allocate(std::size_t size, std::size_t alignment) {
        return ::operator new (size, std::align_val_t{alignment});
    }
    static void deallocate(void* place, std::size_t, std::size_t alignment) {
        ::operator delete (place, std::align_val_t{alignment});
    }
    static void describe(const void*, std::size_t, std::string_view) {}
    static void site(const char*) {}
    static void lock_step(LockStep, const void*) {}
    static unsigned this_worker() { return script().worker; }
    static AbortLog& log() { return script().log; }

  private:
    static constexpr std::size_t stack_bytes = 256 * 1024;

    struct Undo {
        void* place;
        std::size_t size;
        std::array<std::byte, 8> bytes;
    };
    enum class Request { none, snapshot, roll_back, finished };
    struct State {
        Script script;
        std::function<void()> body;
        std::vector<std::byte> stack, saved_stack;
        ucontext_t host{}, fiber{}, saved_fiber{};
        Request request = Request::none;
        rtm::Status result;
        std::exception_ptr failure;
        std::vector<Undo> undo;
        unsigned nesting = 0;
        std::uint64_t now_ns = 0;
    };
    static State& state() {
        static State only;
        return only;
    }

    static void record(void* place, std::size_t size) {
        if (nesting() == 0) return;
        Undo undo{place, size, {}};
        std::memcpy(undo.bytes.data(), place, size);
        state().undo.push_back(undo);
    }
    static void enter() {
        try {
            state().body();
        } catch (...) {
            state().failure = std::current_exception();
        }
        state().request = Request::finished;
        swapcontext(&state().fiber, &state().host);
    }
    static void ask(Request request) {
        state().request = request;
        swapcontext(&state().fiber, &state().host);
    }
    /// Copies poisoned redzones too, which memcpy would report.
#if defined(ABORTSCOPE_TEST_ADDRESS_SANITIZER)
    __attribute__((no_sanitize("address"), noinline))
#endif
    static void
    copy_stack(const std::vector<std::byte>& from, std::vector<std::byte>& to) {
        const volatile std::byte* source = from.data();
        volatile std::byte* target = to.data();
        for (std::size_t i = 0; i < from.size(); ++i) target[i] = source[i];
    }
};

template <class T>
class ScriptedMachine::Cell {
  public:
    constexpr Cell() = default;
    constexpr Cell(T value) : value_(value) {}
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;
    operator T() const { return value_; }
    Cell& operator=(T value) {
        record(&value_, sizeof value_);
        value_ = value;
        return *this;
    }
    Cell& operator+=(T value) { return *this = static_cast<T>(value_ + value); }

  private:
    T value_{};
};

template <class T>
class ScriptedMachine::Atomic {
  public:
    constexpr Atomic() = default;
    constexpr Atomic(T value) : value_(value) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order = std::memory_order_seq_cst) const { return value_; }
    void store(T value, std::memory_order = std::memory_order_seq_cst) { put(value); }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) { return put(value); }
    T fetch_add(T by, std::memory_order = std::memory_order_seq_cst) {
        return put(static_cast<T>(value_ + by));
    }
    T fetch_sub(T by, std::memory_order = std::memory_order_seq_cst) {
        return put(static_cast<T>(value_ - by));
    }
    T fetch_or(T with, std::memory_order = std::memory_order_seq_cst) {
        return put(static_cast<T>(value_ | with));
    }
    T fetch_and(T with, std::memory_order = std::memory_order_seq_cst) {
        return put(static_cast<T>(value_ & with));
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
        if (value_ == expected) {
            put(desired);
            return true;
        }
        expected = value_;
        return false;
    }
    bool compare_exchange_strong(T& expected, T desired,
                                 std::memory_order order = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, desired, order, order);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) {
        return compare_exchange_strong(expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired,
                               std::memory_order order = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, desired, order, order);
    }

  private:
    T put(T value) {
        record(&value_, sizeof value_);
        return std::exchange(value_, value);
    }
    T value_{};
};

inline void ScriptedMachine::run(std::function<void()> body) {
    State& all = state();
    all.body = std::move(body);
    all.failure = nullptr;
    all.stack.resize(stack_bytes);
    all.saved_stack.resize(stack_bytes);
    getcontext(&all.fiber);
    all.fiber.uc_stack.ss_sp = all.stack.data();
    all.fiber.uc_stack.ss_size = all.stack.size();
    all.fiber.uc_link = nullptr;
    makecontext(&all.fiber, &ScriptedMachine::enter, 0);
    for (all.request = Request::none; all.request != Request::finished;) {
        if (all.request == Request::snapshot) {
            copy_stack(all.stack, all.saved_stack);
            all.saved_fiber = all.fiber;
            all.result = rtm::Status::started();
        } else if (all.request == Request::roll_back) {
            for (; !all.undo.empty(); all.undo.pop_back()) {
                const Undo& undo = all.undo.back();
                std::memcpy(undo.place, undo.bytes.data(), undo.size);
            }
            copy_stack(all.saved_stack, all.stack);
            all.fiber = all.saved_fiber;
#if defined(ABORTSCOPE_TEST_ADDRESS_SANITIZER)
            ASAN_UNPOISON_MEMORY_REGION(all.stack.data(), all.stack.size());
#endif
        }
        swapcontext(&all.host, &all.fiber);
    }
#if defined(ABORTSCOPE_TEST_ADDRESS_SANITIZER)
    ASAN_UNPOISON_MEMORY_REGION(all.stack.data(), all.stack.size());
#endif
    if (all.failure) std::rethrow_exception(all.failure);
}

inline rtm::Status ScriptedMachine::begin(const void* /*lock*/) {
    State& all = state();
    if (all.nesting > 0) {
        if (all.nesting == max_nesting) abort_now(rtm::Status::unspecified());
        ++all.nesting;
        all.script.deepest_nesting = std::max(all.script.deepest_nesting, all.nesting);
        return rtm::Status::started();
    }
    ++all.script.begins;
    if (!all.script.outcomes.empty()) {
        const rtm::Status outcome = all.script.outcomes.front();
        all.script.outcomes.pop_front();
        if (!outcome.is_started()) return outcome;
    }
    ask(Request::snapshot);  // comes back once more for the abort
    if (all.result.is_started()) {
        all.nesting = 1;
        all.script.deepest_nesting = std::max(all.script.deepest_nesting, 1u);
    }
    return all.result;
}

inline void ScriptedMachine::commit() {
    State& all = state();
    if (all.nesting == 0) throw std::logic_error("commit outside a transaction (#GP)");
    if (--all.nesting > 0) return;
    all.undo.clear();
    ++all.script.commits;
}

inline void ScriptedMachine::abort_now(rtm::Status status) {
    State& all = state();
    if (all.nesting == 0) return;
    all.result = all.nesting > 1 ? status.with_nested() : status;
    all.nesting = 0;
    ask(Request::roll_back);
}

inline FutexResult ScriptedMachine::futex_wait(Atomic<std::uint32_t>& word, std::uint32_t expected,
                                               std::uint64_t /*timeout_ns*/) {
    abort_now(rtm::Status::unspecified());
    if (word.load() != expected) return FutexResult::value_changed;
    if (!script().on_futex_wait) throw std::logic_error("the only worker would sleep for ever");
    script().on_futex_wait();
    if (script().futex_results.empty()) return FutexResult::woken;
    const FutexResult result = script().futex_results.front();
    script().futex_results.pop_front();
    return result;
}

static_assert(Machine<ScriptedMachine>);

}  // namespace abortscope::testing
