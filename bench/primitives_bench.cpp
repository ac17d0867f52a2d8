// SPDX-License-Identifier: Apache-2.0
//
// Our primitives beside their peers, in one process, at one thread, two, and over-committed.
//
// Names are GROUP/ORIGIN:LOCK/threads:N. Groups: `spin` and `sleep` (exclusive, short sections),
// `read` and `read90` (shared; all reads, one write in ten), `call_rcu` (allocate and defer a
// free). Run it with --benchmark_enable_random_interleaving=true and repetitions, so that what else
// the computer does hits all alike; scripts/peer-table does, and writes docs/benchmarks.md.
//
// A section increments two counters, about 2 ns; between sections a thread works about 30 ns on its
// own. Nothing here runs inside a transaction: where RTM works, the elided mutex's row tells.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "bench/peer_locks.hpp"
#include "machines/native/elided_mutex.hpp"
#include "machines/native/native_machine.hpp"
#include "primitives/call_rcu.hpp"
#include "primitives/lock_registry.hpp"

#if defined(ABORTSCOPE_PEER_URCU)
#define RCU_MB
#include <urcu.h>
#include <urcu/call-rcu.h>
#endif

namespace abortscope::bench {
namespace {

using Native = native::NativeMachine;

/// One of ours, constructed as the registry's kinds are.
template <class Lock>
struct Ours : Lock {
    explicit Ours(unsigned workers) : Lock(LockOptions{.workers = workers}) {}
};
template <class Lock>
using FromNothing = Ours<detail::FromNothing<Lock>>;
template <class Lock>
using FromWorkers = Ours<detail::FromWorkers<Lock>>;

struct OurFatRwLock : FatRwLock<Native, FutexMutex<Native>> {
    explicit OurFatRwLock(unsigned workers) : FatRwLock<Native, FutexMutex<Native>>(workers) {}
};
struct OurElidedMutex : elided_mutex {
    explicit OurElidedMutex(unsigned) {}
};

struct alignas(64) Section {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    void write() {
        ++first;
        ++second;
        benchmark::ClobberMemory();
    }
    void read() const { benchmark::DoNotOptimize(first + second); }
};

/// Work of a thread's own: 20 dependent multiplications.
void work_apart(std::uint64_t& state) {
    for (int i = 0; i < 20; ++i) state = state * 0x9e3779b97f4a7c15u + 1;
    benchmark::DoNotOptimize(state);
}

/// One iteration is a window of time, in which a thread does as many operations as it gets to: a
/// fixed number would take minutes where waiters in a queue are preempted one after another.
class Window {
  public:
    static constexpr std::uint64_t length_ns = 50'000'000;

    /// By one thread, before the others look.
    static void open() { closed_.store(false, std::memory_order_relaxed); }

    /// Once for each operation; looks at the clock about every 10 us.
    bool is_open() {
        if (--until_look_ == 0) look();
        return !closed_.load(std::memory_order_relaxed);
    }

  private:
    void look() {
        const std::uint64_t now = Native::now_ns();
        if (now - start_ >= length_ns) closed_.store(true, std::memory_order_relaxed);
        interval_ = now - last_look_ < 10'000 ? interval_ * 2 : 1;
        until_look_ = interval_;
        last_look_ = now;
    }

    alignas(64) static inline std::atomic<bool> closed_{false};
    alignas(64) std::uint64_t start_ = Native::now_ns();
    std::uint64_t last_look_ = start_;
    std::uint32_t interval_ = 1;
    std::uint32_t until_look_ = 1;
};

/// Google Benchmark holds all threads at the loop's start and end: what thread 0 makes before the
/// loop is there for everybody in it.
template <class Lock>
struct Shared {
    static inline std::unique_ptr<Lock> lock;
    static inline Section section;

    static void make(const benchmark::State& state) {
        native::this_thread().worker = static_cast<unsigned>(state.thread_index());
        if (state.thread_index() != 0) return;
        lock = std::make_unique<Lock>(static_cast<unsigned>(state.threads()));
        Window::open();
    }
};

template <class Operation>
void in_a_window(benchmark::State& state, Operation operation) {
    std::int64_t operations = 0;
    for (auto _ : state) {
        for (Window window; window.is_open(); ++operations) operation();
    }
    state.SetItemsProcessed(operations);
}

template <class Lock>
void exclusive(benchmark::State& state) {
    using All = Shared<Lock>;
    All::make(state);
    std::uint64_t own = static_cast<std::uint64_t>(state.thread_index()) + 1;
    in_a_window(state, [&own] {
        All::lock->lock();
        All::section.write();
        All::lock->unlock();
        work_apart(own);
    });
}

template <class Lock, unsigned one_write_in>
void shared(benchmark::State& state) {
    using All = Shared<Lock>;
    All::make(state);
    std::uint64_t own = static_cast<std::uint64_t>(state.thread_index()) + 1;
    unsigned until_write = static_cast<unsigned>(state.thread_index()) % 7;
    in_a_window(state, [&own, &until_write] {
        if (one_write_in != 0 && ++until_write == one_write_in) {
            until_write = 0;
            All::lock->lock();
            All::section.write();
            All::lock->unlock();
        } else {
            All::lock->lock_shared();
            All::section.read();
            All::lock->unlock_shared();
        }
        work_apart(own);
    });
}

// --- call_rcu: producers allocate and defer the free; one worker behind them ---

struct OurNode : RcuHead<Native> {
    std::uint64_t payload[4];
};

struct OurCallRcu {
    explicit OurCallRcu(unsigned workers)
        : rcu(workers), deferred(rcu, workers, *find_wake_up_form("futex")) {
        worker = std::thread([this] { deferred.run_worker(0); });
    }
    ~OurCallRcu() {
        deferred.stop();
        worker.join();
    }
    void enter() {}
    void leave() {}
    void defer_free() {
        rcu.read_lock();
        rcu.read_unlock();
        deferred.call(*::new (std::malloc(sizeof(OurNode))) OurNode,
                      [](RcuHead<Native>* head) { std::free(static_cast<OurNode*>(head)); });
    }
    RcuDomain<Native> rcu;
    CallRcu<Native> deferred;
    std::thread worker;
};

#if defined(ABORTSCOPE_PEER_URCU)
struct UrcuNode {
    rcu_head head;
    std::uint64_t payload[4];
};

struct UrcuCallRcu {
    explicit UrcuCallRcu(unsigned) {}
    ~UrcuCallRcu() { rcu_barrier(); }
    void enter() { rcu_register_thread(); }
    void leave() { rcu_unregister_thread(); }
    void defer_free() {
        rcu_read_lock();
        rcu_read_unlock();
        auto* node = static_cast<UrcuNode*>(std::malloc(sizeof(UrcuNode)));
        call_rcu(&node->head, [](rcu_head* head) { std::free(head); });
    }
};
#endif

template <class Form>
void call_rcu_updates(benchmark::State& state) {
    using All = Shared<Form>;
    All::make(state);
    std::int64_t operations = 0;
    for (auto _ : state) {
        All::lock->enter();
        for (Window window; window.is_open(); ++operations) All::lock->defer_free();
        All::lock->leave();
    }
    state.SetItemsProcessed(operations);
}

// --- the list ---

int allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void add(const std::string& name, void (*body)(benchmark::State&)) {
    benchmark::internal::Benchmark* entry = benchmark::RegisterBenchmark(name.c_str(), body);
    entry->UseRealTime()->Iterations(1)->Threads(1)->Threads(2)->Threads(2 * allowed_cpus());
}
template <class Lock>
void add_exclusive(const std::string& group, const std::string& name) {
    add(group + "/" + name, &exclusive<Lock>);
}
template <class Lock>
void add_shared(const std::string& name) {
    add("read/" + name, &shared<Lock, 0>);
    add("read90/" + name, &shared<Lock, 10>);
}

void add_ours() {
    add_exclusive<FromNothing<TasSpinlock<Native>>>("spin", "ours:tas");
    add_exclusive<FromNothing<TicketSpinlock<Native>>>("spin", "ours:ticket");
    add_exclusive<FromWorkers<McsSpinlock<Native>>>("spin", "ours:mcs");
    add_exclusive<Ours<detail::FromOwnNodesRfc<Native>>>("spin", "ours:qspinlock-2013");
    add_exclusive<Ours<detail::FromOwnNodes<Native>>>("spin", "ours:qspinlock-4.2");
    add_exclusive<FromNothing<FutexMutex<Native>>>("sleep", "ours:futex-mutex");
    add_exclusive<OurElidedMutex>("sleep", "ours:elided_mutex");
    add_shared<FromNothing<RwLock<Native>>>("ours:rwlock");
    add_shared<OurFatRwLock>("ours:fat-rwlock");
    add_shared<FromWorkers<Rwsem<Native, ReadTryLock::read_first>>>("ours:rwsem");
    add_shared<FromWorkers<RwsemHandoff<Native>>>("ours:rwsem-handoff");
    add("call_rcu/ours:futex", &call_rcu_updates<OurCallRcu>);
}

void add_peers() {
    add_exclusive<PthreadSpin>("spin", "peer:pthread_spin");
    add_exclusive<PthreadMutex>("sleep", "peer:pthread_mutex");
    add_shared<PthreadRwlock>("peer:pthread_rwlock");
    add_shared<StdSharedMutex>("peer:std::shared_mutex");
#if defined(ABORTSCOPE_PEER_CK)
    add_exclusive<CkFas>("spin", "peer:ck_spinlock_fas");
    add_exclusive<CkTicket>("spin", "peer:ck_spinlock_ticket");
    add_shared<CkRwlock>("peer:ck_rwlock");
#endif
#if defined(ABORTSCOPE_PEER_TBB)
    add_exclusive<TbbLock<tbb::spin_mutex>>("spin", "peer:tbb::spin_mutex");
    add_exclusive<TbbQueuing<tbb::queuing_mutex, false>>("spin", "peer:tbb::queuing_mutex");
    add_exclusive<TbbLock<tbb::mutex>>("sleep", "peer:tbb::mutex");
    add_shared<TbbLock<tbb::rw_mutex>>("peer:tbb::rw_mutex");
    add_shared<TbbLock<tbb::spin_rw_mutex>>("peer:tbb::spin_rw_mutex");
    add_shared<TbbQueuing<tbb::queuing_rw_mutex, true>>("peer:tbb::queuing_rw_mutex");
#endif
#if defined(ABORTSCOPE_PEER_ABSL)
    add_exclusive<AbslMutex>("sleep", "peer:absl::Mutex");
    add_shared<AbslMutex>("peer:absl::Mutex");
#endif
#if defined(ABORTSCOPE_PEER_URCU)
    add("call_rcu/peer:liburcu-mb", &call_rcu_updates<UrcuCallRcu>);
#endif
}

[[maybe_unused]] const bool added = [] {
    add_ours();
    add_peers();
    return true;
}();

}  // namespace
}  // namespace abortscope::bench
