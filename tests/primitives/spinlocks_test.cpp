// SPDX-License-Identifier: Apache-2.0
//
// What the spinlocks promise beside exclusion: order, nodes, nested contexts, and their counters.
#include <gtest/gtest.h>

#include <pthread.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "primitives/lock_registry.hpp"
#include "tests/primitives/model_trial.hpp"
#include "tests/primitives/stress.hpp"

namespace abortscope::testing {
namespace {

// --- layout ---

TEST(QueueSpinlocks, TheWordIsFourBytes) {
    EXPECT_EQ(sizeof(LockWord<Native>), 4u);
    EXPECT_EQ(sizeof(LockWord<Model>), 4u);
}

TEST(QueueSpinlocks, ACodeNamesItsNode) {
    QueueNodes<Native> nodes(1);
    QueueNodes<Native>::Claim first(nodes), second(nodes);
    EXPECT_EQ(first.code(), (0u + 1) << 2 | 0u);
    EXPECT_EQ(second.code(), (0u + 1) << 2 | 1u);
    EXPECT_EQ(&nodes.node_of(first.code()), &first.prepared_node());
    EXPECT_EQ(&nodes.node_of(second.code()), &second.prepared_node());
}

TEST(QueueSpinlocks, NodesAreAStackOfFour) {
    QueueNodes<Native> nodes(1);
    using Claim = QueueNodes<Native>::Claim;
    {
        Claim task(nodes), softirq(nodes), hardirq(nodes);
        {
            Claim nmi(nodes), fifth(nodes);
            EXPECT_TRUE(nmi.has_node());
            EXPECT_FALSE(fifth.has_node());
        }
        Claim again(nodes);
        EXPECT_TRUE(again.has_node()) << "a node is back when its claim ends";
    }
    QueueNodes<Native> none(1, 0);
    EXPECT_FALSE(Claim(none).has_node());
}

// --- order ---

using FifoLocks = OnTheModel;

/// Workers arrive 50 us apart while worker 0 holds the lock; the order in which they get it.
template <class Kind>
std::vector<unsigned> order_of_service(std::uint64_t seed, unsigned workers) {
    ModelTrial trial(workers, seed);
    auto lock = Kind::make("lock", no_elision, {.workers = workers});
    auto count = make_owned<Model, Model::Cell<unsigned>>("count", 0u);
    auto order = make_owned_array<Model, Model::Cell<unsigned>>("order", workers);
    trial.run([&](unsigned worker) {
        at_ns(50'000 * (worker + 1));
        lock->lock();
        if (worker == 0) Model::compute(3'000'000);
        const unsigned place = *count;
        order.get()[place] = worker;
        *count = place + 1;
        lock->unlock();
    });
    std::vector<unsigned> served;
    for (unsigned i = 0; i < workers; ++i) served.push_back(order.get()[i]);
    return served;
}

TEST_F(FifoLocks, ServeWaitersInTheOrderOfTheirArrival) {
    const std::vector<unsigned> in_order{0, 1, 2, 3, 4, 5, 6, 7};
    for (const LockKind& kind : lock_kinds) {
        if (!kind.fifo) continue;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const auto served = visit_lock<Model>(
                kind.name, [seed]<class Kind>(Kind) { return order_of_service<Kind>(seed, 8); });
            EXPECT_EQ(served, in_order) << kind.name << ", seed " << seed;
        }
    }
}

TEST_F(FifoLocks, TheTestCanFail) {
    const std::vector<unsigned> in_order{0, 1, 2, 3, 4, 5, 6, 7};
    unsigned out_of_order = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto served = visit_lock<Model>(
            "tas", [seed]<class Kind>(Kind) { return order_of_service<Kind>(seed, 8); });
        if (served != in_order) ++out_of_order;
    }
    EXPECT_GT(out_of_order, 0u) << "test-and-set promises no order";
}

// --- running out of nodes, on real threads ---

class NodeExhaustion : public ::testing::TestWithParam<unsigned> {};

template <class Lock>
void exhaust(unsigned max_nodes) {
    constexpr unsigned threads = 4;
    QueueNodes<PatientNative> nodes(threads, max_nodes);
    Lock lock(nodes);
    stress_exclusive(lock, threads, stress_rounds / 4);
    EXPECT_TRUE(lock.is_free());
    std::uint64_t in_queue = 0, no_node = 0, deeper = 0;
    for (unsigned worker = 0; worker < threads; ++worker) {
        const QueueLockCounters& counters = nodes.counters(worker);
        in_queue += counters.node_uses[0];
        no_node += counters.no_node;
        deeper += counters.node_uses[1] + counters.node_uses[2] + counters.node_uses[3];
    }
    EXPECT_EQ(deeper, 0u) << "no context was nested";
    EXPECT_EQ(no_node > 0, max_nodes == 0);
    EXPECT_EQ(in_queue > 0, max_nodes > 0);
}

TEST_P(NodeExhaustion, The2013FormStillExcludes) {
    exhaust<QspinlockRfc<PatientNative>>(GetParam());
}

TEST_P(NodeExhaustion, The42FormStillExcludes) {
    exhaust<Qspinlock<PatientNative>>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(MaxNodes, NodeExhaustion, ::testing::Values(0u, 1u, 4u));

// --- nested contexts: signal handlers that take locks of their own ---

constexpr std::size_t signal_levels = 4;
const std::array<int, signal_levels> level_signals{SIGUSR1, SIGUSR2, SIGRTMIN, SIGRTMIN + 1};

/// What a handler of each level does; set for one test at a time.
std::function<void(std::size_t)> in_handler;

void handle(int signal) {
    for (std::size_t level = 0; level < signal_levels; ++level) {
        if (level_signals[level] == signal) in_handler(level);
    }
}

/// Handlers of level k block the signals up to k: contexts nest in one order, so that the locks
/// of the levels cannot deadlock each other.
class NestedSignals {
  public:
    NestedSignals() {
        for (std::size_t level = 0; level < signal_levels; ++level) {
            struct sigaction action {};
            action.sa_handler = handle;
            sigemptyset(&action.sa_mask);
            for (std::size_t i = 0; i <= level; ++i) sigaddset(&action.sa_mask, level_signals[i]);
            sigaction(level_signals[level], &action, &before_[level]);
        }
    }
    ~NestedSignals() {
        for (std::size_t level = 0; level < signal_levels; ++level) {
            sigaction(level_signals[level], &before_[level], nullptr);
        }
    }
    NestedSignals(const NestedSignals&) = delete;
    NestedSignals& operator=(const NestedSignals&) = delete;

  private:
    std::array<struct sigaction, signal_levels> before_{};
};

template <class Lock>
void interrupt_waiters(unsigned max_nodes) {
    constexpr unsigned threads = 4;
    QueueNodes<PatientNative> nodes(threads, max_nodes);
    Lock base(nodes);
    std::array<std::unique_ptr<Lock>, signal_levels> locks;
    for (auto& lock : locks) lock = std::make_unique<Lock>(nodes);
    Guarded of_base;
    std::array<Guarded, signal_levels> of_level;
    std::array<std::atomic<std::uint64_t>, signal_levels> handled{};

    in_handler = [&](std::size_t level) {
        locks[level]->lock();
        ++of_level[level].first;
        for (int i = 0; i < 20; ++i) Native::pause();
        ++of_level[level].second;
        locks[level]->unlock();
        ++handled[level];
    };
    const NestedSignals signals;
    std::array<std::atomic<pthread_t>, threads> ids{};
    std::atomic<unsigned> alive{0};
    std::atomic<bool> enough{false};
    std::thread sender([&] {
        while (alive.load() < threads) std::this_thread::yield();
        for (unsigned round = 0; round < 400; ++round) {
            for (auto& id : ids) pthread_kill(id.load(), level_signals[round % signal_levels]);
            std::this_thread::yield();
        }
        enough = true;
    });
    std::atomic<std::uint64_t> rounds{0};
    on_threads(threads, [&](unsigned worker) {
        ids[worker] = pthread_self();
        ++alive;
        std::uint64_t mine = 0;
        while (!enough.load()) {
            base.lock();
            ++of_base.first;
            ++of_base.second;
            base.unlock();
            ++mine;
        }
        rounds += mine;
    });
    sender.join();
    EXPECT_EQ(of_base.first, rounds.load());
    EXPECT_EQ(of_base.second, rounds.load());
    for (std::size_t level = 0; level < signal_levels; ++level) {
        EXPECT_GT(handled[level].load(), 0u);
        EXPECT_EQ(of_level[level].first, handled[level].load());
        EXPECT_EQ(of_level[level].second, handled[level].load());
        EXPECT_TRUE(locks[level]->is_free());
    }
}

TEST(NestedContexts, SignalHandlersTake2013LocksInsideWaits) {
    for (unsigned max_nodes : {1u, 4u}) interrupt_waiters<QspinlockRfc<PatientNative>>(max_nodes);
}

TEST(NestedContexts, SignalHandlersTake42LocksInsideWaits) {
    for (unsigned max_nodes : {1u, 4u}) interrupt_waiters<Qspinlock<PatientNative>>(max_nodes);
}

// --- counters, where it is known who waits how ---

using QueueLockCountersTest = OnTheModel;

/// Worker 0 holds; workers 1.. arrive 50 us apart, worker `nested` as a context that interrupted
/// `depth` others. Gives the counters and the order of service.
template <class Lock>
struct Service {
    std::vector<QueueLockCounters> counters;
    std::vector<unsigned> order;
};
template <class Lock>
Service<Lock> serve(unsigned workers, unsigned nested, unsigned depth) {
    ModelTrial trial(workers);
    auto nodes = make_owned<Model, QueueNodes<Model>>("nodes", workers);
    auto lock = make_owned<Model, Lock>("lock", *nodes);
    auto count = make_owned<Model, Model::Cell<unsigned>>("count", 0u);
    auto order = make_owned_array<Model, Model::Cell<unsigned>>("order", workers);
    trial.run([&](unsigned worker) {
        at_ns(50'000 * (worker + 1));
        std::array<std::optional<QueueNodes<Model>::NestedContext>, 4> interrupted;
        if (worker == nested) {
            for (unsigned i = 0; i < depth; ++i) interrupted[i].emplace(*nodes);
        }
        lock->lock();
        if (worker == 0) Model::compute(3'000'000);
        const unsigned place = *count;
        order.get()[place] = worker;
        *count = place + 1;
        lock->unlock();
        for (unsigned i = 4; i-- > 0;) interrupted[i].reset();
    });
    Service<Lock> service;
    for (unsigned i = 0; i < workers; ++i) {
        service.counters.push_back(nodes->counters(i));
        service.order.push_back(order.get()[i]);
    }
    return service;
}

TEST_F(QueueLockCountersTest, The2013FormQueuesEveryContender) {
    const auto service = serve<QspinlockRfc<Model>>(4, 2, 0);
    EXPECT_EQ(service.counters[0].slow_paths(), 0u);
    for (unsigned worker : {1u, 2u, 3u}) {
        EXPECT_EQ(service.counters[worker].node_uses[0], 1u);
        EXPECT_EQ(service.counters[worker].slow_paths(), 1u);
    }
}

TEST_F(QueueLockCountersTest, The42FormsSecondContenderIsPendingAndTakesNoNode) {
    const auto service = serve<Qspinlock<Model>>(4, 2, 0);
    EXPECT_EQ(service.counters[0].slow_paths(), 0u);
    EXPECT_EQ(service.counters[1].pending, 1u);
    EXPECT_EQ(service.counters[1].node_uses[0], 0u);
    EXPECT_EQ(service.counters[2].node_uses[0], 1u);
    EXPECT_EQ(service.counters[3].node_uses[0], 1u);
}

TEST_F(QueueLockCountersTest, ANestedContextUsesTheNextNode) {
    const auto service = serve<QspinlockRfc<Model>>(4, 2, 3);
    EXPECT_EQ(service.counters[2].node_uses[0], 0u);
    EXPECT_EQ(service.counters[2].node_uses[3], 1u);
    EXPECT_EQ(service.order, (std::vector<unsigned>{0, 1, 2, 3}));
}

TEST_F(QueueLockCountersTest, AContextWithoutANodeOvertakesThe2013Queue) {
    // Worker 3 comes last and has no node; the head of the queue and it race for the byte.
    const auto service = serve<QspinlockRfc<Model>>(4, 3, 4);
    EXPECT_EQ(service.counters[3].no_node, 1u);
    const bool overtook = service.order.back() != 3;
    EXPECT_EQ(service.counters[3].barges > 0, overtook);
    EXPECT_TRUE(overtook);
}

TEST_F(QueueLockCountersTest, AContextWithoutANodeWaitsForThe42QueueToDrain) {
    const auto service = serve<Qspinlock<Model>>(4, 3, 4);
    EXPECT_EQ(service.counters[3].no_node, 1u);
    EXPECT_EQ(service.counters[3].barges, 0u);
    EXPECT_EQ(service.order.back(), 3u);
}

// --- spin_threshold ---

using SpinThreshold = OnTheModel;

/// Waits in the queue of two workers that take the lock 200 times each, for 100 cycles.
std::uint64_t queued_waits(std::uint32_t spin_threshold) {
    ModelTrial trial(2);
    auto nodes = make_owned<Model, QueueNodes<Model>>("nodes", 2u);
    auto lock = make_owned<Model, QspinlockRfc<Model>>("lock", *nodes, spin_threshold);
    trial.run([&](unsigned) {
        at_ns(50'000);
        for (int i = 0; i < 200; ++i) {
            lock->lock();
            Model::compute(100);
            lock->unlock();
            Model::compute(100);
        }
    });
    return nodes->counters(0).node_uses[0] + nodes->counters(1).node_uses[0];
}

TEST_F(SpinThreshold, ShortSectionsSeldomNeedTheQueue) {
    const std::uint64_t at_once = queued_waits(0);
    const std::uint64_t delayed = queued_waits(64);
    EXPECT_GT(at_once, 100u);
    EXPECT_LT(delayed * 4, at_once);
}

}  // namespace
}  // namespace abortscope::testing
