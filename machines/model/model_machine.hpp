// SPDX-License-Identifier: Apache-2.0
//
// The Machine that is simulated: a front end of the engine that is current on this host thread.
//
// `Atomic` and `Cell` are the values themselves, laid out as on native, in the engine's arena;
// every use is one access of the engine, then the plain load or store on the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "machines/model/engine.hpp"
#include "primitives/machine.hpp"

namespace abortscope::model {

/// What fetch_add takes: the type itself, or a distance for pointers.
template <class T>
using difference = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

/// Tells the compiler that a place holds some value. The engine looks at the bytes that a
/// constructor is about to overwrite (they may be another transaction's).
template <class T>
inline void hold_place(T& place) {
    asm volatile("" : "=m"(place));
}

template <class T>
class Atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

  public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    Atomic() : Atomic(T{}) {}
    Atomic(T value) {  // initialisation is a plain store, seen by transactions like any other
        hold_place(value_);
        step(Access::store);
        value_ = value;
    }
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order = std::memory_order_seq_cst) const {
        step(Access::load);
        return value_;
    }
    void store(T value, std::memory_order order = std::memory_order_seq_cst) {
        // A sequentially consistent store is an exchange on x86.
        step(order == std::memory_order_seq_cst ? Access::atomic : Access::store);
        value_ = value;
    }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
        return modify([&](T) { return value; });
    }
    bool compare_exchange_strong(T& expected, T desired,
                                 std::memory_order = std::memory_order_seq_cst,
                                 std::memory_order = std::memory_order_seq_cst) {
        Engine* engine = Engine::current();
        if (engine->preset().load_linked == 0) {
            step(Access::atomic);
            if (value_ == expected) {
                value_ = desired;
                return true;
            }
        } else {
            // A pair that finds another value stores nothing, so it never needs to own the line.
            for (;;) {
                step(Access::load);
                if (value_ != expected) break;
                if (!engine->store_exclusive(&value_, sizeof(T))) continue;
                value_ = desired;
                return true;
            }
        }
        expected = value_;
        return false;
    }
    bool compare_exchange_weak(T& expected, T desired,
                               std::memory_order success = std::memory_order_seq_cst,
                               std::memory_order failure = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, desired, success, failure);
    }
    T fetch_add(difference<T> value, std::memory_order = std::memory_order_seq_cst) {
        return modify([&](T old) { return static_cast<T>(old + value); });
    }
    T fetch_sub(difference<T> value, std::memory_order = std::memory_order_seq_cst) {
        return modify([&](T old) { return static_cast<T>(old - value); });
    }
    T fetch_or(T value, std::memory_order = std::memory_order_seq_cst) {
        return modify([&](T old) { return static_cast<T>(old | value); });
    }
    T fetch_and(T value, std::memory_order = std::memory_order_seq_cst) {
        return modify([&](T old) { return static_cast<T>(old & value); });
    }
    T fetch_xor(T value, std::memory_order = std::memory_order_seq_cst) {
        return modify([&](T old) { return static_cast<T>(old ^ value); });
    }

    /// The load of ModelMachine::spin_until.
    T spin_load() const {
        Engine::current()->spin_load(&value_, sizeof(T));
        return value_;
    }

    operator T() const { return load(); }
    T operator=(T value) {
        store(value);
        return value;
    }
    T operator++() { return static_cast<T>(fetch_add(1) + 1); }
    T operator--() { return static_cast<T>(fetch_sub(1) - 1); }
    T operator++(int) { return fetch_add(1); }
    T operator--(int) { return fetch_sub(1); }

  private:
    void step(Access kind) const { Engine::current()->access(&value_, {kind, sizeof(T)}); }
    template <class F>
    T modify(F change) {
        Engine* engine = Engine::current();
        if (engine->preset().load_linked == 0) {
            step(Access::atomic);
        } else {
            do {
                step(Access::load);
            } while (!engine->store_exclusive(&value_, sizeof(T)));
        }
        const T old = value_;
        value_ = change(old);
        return old;
    }

    alignas(sizeof(T)) T value_;
};

template <class T>
class Cell {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

  public:
    Cell() : Cell(T{}) {}
    Cell(T value) {
        hold_place(value_);
        *this = value;
    }
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    operator T() const {
        Engine::current()->access(&value_, {Access::load, sizeof(T)});
        return value_;
    }
    Cell& operator=(T value) {
        Engine::current()->access(&value_, {Access::store, sizeof(T)});
        value_ = value;
        return *this;
    }
    T operator->() const requires std::is_pointer_v<T> { return *this; }

    template <class U>
    Cell& operator+=(U value) {
        return *this = static_cast<T>(T{*this} + value);
    }
    template <class U>
    Cell& operator-=(U value) {
        return *this = static_cast<T>(T{*this} - value);
    }
    template <class U>
    Cell& operator|=(U value) {
        return *this = static_cast<T>(T{*this} | value);
    }
    template <class U>
    Cell& operator&=(U value) {
        return *this = static_cast<T>(T{*this} & value);
    }
    template <class U>
    Cell& operator^=(U value) {
        return *this = static_cast<T>(T{*this} ^ value);
    }
    Cell& operator++() { return *this += 1; }
    Cell& operator--() { return *this -= 1; }
    T operator++(int) {
        const T old = *this;
        *this = static_cast<T>(old + 1);
        return old;
    }
    T operator--(int) {
        const T old = *this;
        *this = static_cast<T>(old - 1);
        return old;
    }

  private:
    alignas(sizeof(T)) T value_;
};

struct ModelMachine {
    static constexpr std::string_view name = "model";

    template <class T>
    using Atomic = model::Atomic<T>;
    template <class T>
    using Cell = model::Cell<T>;

    static void fence(std::memory_order order) {
        // On x86 only the full fence is an instruction.
        if (order == std::memory_order_seq_cst) Engine::current()->fence();
    }

    static bool rtm_available() { return Engine::current()->preset().rtm != 0; }
    static rtm::Status begin(const void* lock = nullptr) { return Engine::current()->begin(lock); }
    static void commit() { Engine::current()->commit(); }
    template <std::uint8_t Code>
    static void abort() {
        if (Engine::current()->in_transaction()) Engine::current()->abort_explicitly(Code);
    }
    static bool in_transaction() { return Engine::current()->in_transaction(); }

    static void pause() { Engine::current()->pause(); }
    static void compute(std::uint64_t cycles) { Engine::current()->compute(cycles); }
    static std::uint64_t cycles_of_ns(std::uint64_t duration_ns) {
        return Engine::current()->preset().cycles_of_ns(duration_ns);
    }
    static std::uint64_t now_ns() { return Engine::current()->now_ns(); }
    static void sleep_for_ns(std::uint64_t duration_ns) {
        Engine* engine = Engine::current();
        engine->sleep_for(engine->preset().cycles_of_ns(duration_ns));
    }

    template <class T, class Predicate>
    static T spin_until(const Atomic<T>& word, Predicate done,
                        std::uint32_t max_pauses = unbounded) {
        Engine* engine = Engine::current();
        for (std::uint32_t pauses = 0;;) {
            const T value = word.spin_load();
            if (done(value) || (pauses == max_pauses && max_pauses != unbounded)) return value;
            std::uint64_t seen = 0;
            std::memcpy(&seen, &value, sizeof value);
            pauses += engine->spin_pause(&word, sizeof value, seen,
                                         max_pauses == unbounded ? unbounded : max_pauses - pauses);
        }
    }

    static FutexResult futex_wait(Atomic<std::uint32_t>& word, std::uint32_t expected,
                                  std::uint64_t timeout_ns = forever_ns) {
        return Engine::current()->futex_wait(&word, expected, timeout_ns);
    }
    static std::uint32_t futex_wake(Atomic<std::uint32_t>& word, std::uint32_t count) {
        return Engine::current()->futex_wake(&word, count);
    }
    static void yield() { Engine::current()->yield(); }
    static void system_call(SystemCall kind) { Engine::current()->system_call(kind); }

    static void* allocate(std::size_t size, std::size_t alignment) {
        return Engine::current()->allocate(size, alignment);
    }
    static void deallocate(void* place, std::size_t size, std::size_t alignment) {
        Engine::current()->deallocate(place, size, alignment);
    }
    static void describe(const void* place, std::size_t size, std::string_view object) {
        Engine::current()->describe(place, size, object);
    }

    static void site(const char* label) { Engine::current()->site(label); }
    static void lock_step(LockStep step, const void* lock) {
        Engine::current()->lock_step(step, lock);
    }

    static unsigned this_worker() { return Engine::current()->this_worker(); }
    static AbortLog& log() { return Engine::current()->this_log(); }
};

static_assert(Machine<ModelMachine>);

}  // namespace abortscope::model
