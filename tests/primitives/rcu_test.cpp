// SPDX-License-Identifier: Apache-2.0
//
// Grace periods and deferred callbacks, on real threads and on the model.
#include "primitives/rcu.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "primitives/call_rcu.hpp"
#include "tests/primitives/model_trial.hpp"
#include "tests/primitives/stress.hpp"

namespace abortscope::testing {
namespace {

// --- the domain alone ---

using RcuOnTheModel = OnTheModel;

TEST_F(RcuOnTheModel, AGracePeriodWaitsForSectionsThatBeganBeforeItAndForNoOthers) {
    ModelTrial trial(4);
    auto rcu = make_owned<Model, RcuDomain<Model>>("rcu", 4u);
    std::uint64_t done = 0;
    trial.run([&](unsigned worker) {
        if (worker == 0) {  // before: nested, until 500 us
            at_ns(50'000);
            rcu->read_lock();
            rcu->read_lock();
            at_ns(300'000);
            rcu->read_unlock();
            at_ns(500'000);
            rcu->read_unlock();
        } else if (worker == 1) {
            at_ns(100'000);
            rcu->synchronize();
            done = Model::now_ns();
        } else if (worker == 2) {  // after: until 2 ms
            at_ns(150'000);
            rcu->read_lock();
            at_ns(2'000'000);
            rcu->read_unlock();
        }
    });
    EXPECT_GE(done, 500'000u);
    EXPECT_LT(done, 600'000u);
}

TEST_F(RcuOnTheModel, AGracePeriodWithoutReadersIsShort) {
    ModelTrial trial(2);
    auto rcu = make_owned<Model, RcuDomain<Model>>("rcu", 2u);
    std::uint64_t took = 0;
    trial.run([&](unsigned worker) {
        if (worker != 0) return;
        const std::uint64_t start = Model::now_ns();
        rcu->synchronize();
        took = Model::now_ns() - start;
    });
    EXPECT_LT(took, 5'000u);
}

// --- readers of a pointer that one writer swings ---

/// The mistake: a grace period that waits for nobody.
template <class M>
struct NoGracePeriod : RcuDomain<M> {
    using RcuDomain<M>::RcuDomain;
    void synchronize() {}
};

template <Machine M>
struct Object : RcuHead<M> {
    explicit Object(std::uint64_t v) : first(v), second(v) {}
    typename M::template Atomic<std::uint64_t> first;
    typename M::template Atomic<std::uint64_t> second;
};

/// Says "freed" in the memory before it goes, so that a late reader sees it. No destructor runs:
/// compilers drop stores to an object whose life ends.
template <Machine M>
void poison_and_free(RcuHead<M>* head) {
    auto* object = static_cast<Object<M>*>(head);
    object->first.store(0, std::memory_order_relaxed);
    static_assert(std::is_trivially_destructible_v<Object<M>>);
    M::deallocate(object, sizeof(Object<M>), alignof(Object<M>));
}

template <Machine M, class Domain>
struct Swinging {
    Swinging(unsigned workers, std::string_view form, unsigned queues)
        : rcu(workers), call_rcu(rcu, workers, *find_wake_up_form(form), queues, 20'000) {
        current.store(make(1), std::memory_order_relaxed);
    }
    ~Swinging() { poison_and_free<M>(current.load(std::memory_order_relaxed)); }

    static Object<M>* make(std::uint64_t value) {
        return ::new (M::allocate(sizeof(Object<M>), alignof(Object<M>))) Object<M>(value);
    }
    void write(unsigned changes) {
        for (unsigned i = 0; i < changes; ++i) {
            Object<M>* next = make(i + 2);
            Object<M>* before = current.exchange(next, std::memory_order_acq_rel);
            call_rcu.call(*before, &poison_and_free<M>);
            M::compute(300);
        }
        stop.store(1, std::memory_order_release);
        call_rcu.stop();
    }
    /// How many objects were freed or torn while a read section held them.
    std::uint64_t read() {
        std::uint64_t broken = 0;
        for (unsigned section = 0; stop.load(std::memory_order_acquire) == 0; ++section) {
            rcu.read_lock();
            const Object<M>* object = current.load(std::memory_order_acquire);
            const std::uint64_t first = object->first.load(std::memory_order_relaxed);
            M::compute(400);
            if (section % 8 == 0) {  // now and then long enough for the worker to come round
                M::compute(100'000);
                M::yield();
            }
            const std::uint64_t second = object->second.load(std::memory_order_relaxed);
            const std::uint64_t again = object->first.load(std::memory_order_relaxed);
            rcu.read_unlock();
            broken += first == 0 || first != second || first != again ? 1 : 0;
        }
        return broken;
    }

    Domain rcu;
    CallRcu<M, Domain> call_rcu;
    typename M::template Atomic<Object<M>*> current{nullptr};
    alignas(64) typename M::template Atomic<std::uint32_t> stop{0};
};

/// Worker 0 writes, the last `queues` serve, the others read.
template <Machine M, class Domain>
std::uint64_t swing(Swinging<M, Domain>& all, unsigned worker, unsigned workers, unsigned queues,
                    unsigned changes) {
    if (worker == 0) {
        all.write(changes);
    } else if (worker >= workers - queues) {
        all.call_rcu.run_worker(worker - (workers - queues));
    } else {
        return all.read();
    }
    return 0;
}

template <class Domain>
std::uint64_t broken_reads_on_the_model(std::string_view form, std::uint64_t seed,
                                        unsigned queues) {
    constexpr unsigned workers = 6;
    constexpr unsigned changes = 100;
    ModelTrial trial(workers, seed, seed % 2 == 0 ? 2 : 0);
    auto all = make_owned<Model, Swinging<Model, Domain>>("all", workers, form, queues);
    std::array<std::uint64_t, workers> broken{};
    trial.run(
        [&](unsigned worker) { broken[worker] = swing(*all, worker, workers, queues, changes); });
    std::uint64_t callbacks = 0;
    for (unsigned i = 0; i < queues; ++i) callbacks += all->call_rcu.queue_counters(i).callbacks;
    EXPECT_EQ(callbacks, changes) << "each exactly once, and none left at the end";
    std::uint64_t sum = 0;
    for (std::uint64_t count : broken) sum += count;
    return sum;
}

TEST_F(RcuOnTheModel, NoObjectIsFreedUnderAReaderInAnyForm) {
    for (const WakeUpForm& form : wake_up_forms) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            for (unsigned queues : {1u, 2u}) {
                EXPECT_EQ(broken_reads_on_the_model<RcuDomain<Model>>(form.name, seed, queues), 0u)
                    << form.name << ", seed " << seed;
            }
        }
    }
}

TEST_F(RcuOnTheModel, VariantNoGracePeriodFreesObjectsUnderReaders) {
    std::uint64_t broken = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        broken += broken_reads_on_the_model<NoGracePeriod<Model>>("futex", seed, 1);
    }
    EXPECT_GT(broken, 0u);
}

TEST_F(RcuOnTheModel, ACallOfATransactionThatAbortedIsNotCounted) {
    ModelTrial trial(2);
    auto all = make_owned<Model, Swinging<Model, RcuDomain<Model>>>("all", 2u, "polling", 1u);
    unsigned aborts = 0;
    trial.run([&](unsigned worker) {
        if (worker == 1) return all->call_rcu.run_worker(0);
        for (unsigned tries = 0; tries < 10; ++tries) {
            if (!Model::begin().is_started()) {
                ++aborts;
                continue;
            }
            all->call_rcu.call(*all->current.load(), [](RcuHead<Model>*) {});
            Model::abort<1>();
        }
        all->call_rcu.call(*all->current.load(), [](RcuHead<Model>*) {});
        all->call_rcu.stop();
    });
    EXPECT_EQ(aborts, 10u);
    EXPECT_EQ(std::uint64_t{all->call_rcu.producer_counters(0).calls}, 1u);
    EXPECT_EQ(all->call_rcu.queue_counters(0).callbacks, 1u);
}

class NativeRcu : public ::testing::TestWithParam<unsigned> {};

TEST_P(NativeRcu, NoObjectIsFreedUnderAReaderInAnyForm) {
    const unsigned readers = GetParam();
    for (const WakeUpForm& form : wake_up_forms) {
        for (unsigned queues : {1u, 2u}) {
            const unsigned workers = 1 + readers + queues;
            constexpr unsigned changes = 2000;
            Swinging<PatientNative, RcuDomain<PatientNative>> all(workers, form.name, queues);
            std::atomic<std::uint64_t> broken{0};
            on_threads(workers, [&](unsigned worker) {
                broken += swing(all, worker, workers, queues, changes);
            });
            EXPECT_EQ(broken.load(), 0u) << form.name;
            std::uint64_t callbacks = 0;
            for (unsigned i = 0; i < queues; ++i) {
                callbacks += all.call_rcu.queue_counters(i).callbacks;
            }
            EXPECT_EQ(callbacks, changes) << form.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Readers, NativeRcu, ::testing::Values(1u, 2u, 5u));

// --- the queue ---

class NativeQueue : public ::testing::TestWithParam<unsigned> {};

TEST_P(NativeQueue, LosesNothingAndKeepsEachProducersOrder) {
    const unsigned producers = GetParam();
    constexpr unsigned each = 5000;
    struct Item : RcuHead<PatientNative> {
        unsigned producer = 0, number = 0;
    };
    std::vector<std::vector<Item>> items(producers);
    for (auto& own : items) own = std::vector<Item>(each);
    WaitFreeQueue<PatientNative> queue;
    std::uint64_t taken = 0, out_of_order = 0;
    on_threads(producers + 1, [&](unsigned worker) {
        if (worker < producers) {
            for (unsigned i = 0; i < each; ++i) {
                items[worker][i].producer = worker;
                items[worker][i].number = i;
                queue.push(items[worker][i]);
            }
            return;
        }
        std::vector<unsigned> next(producers, 0);
        while (taken < std::uint64_t{producers} * each) {
            queue.take_all().for_each([&](RcuHead<PatientNative>* head) {
                const Item& item = *static_cast<Item*>(head);
                if (item.number != next[item.producer]++) ++out_of_order;
                ++taken;
            });
            PatientNative::pause();
        }
    });
    EXPECT_EQ(out_of_order, 0u);
    EXPECT_TRUE(queue.empty());
}

INSTANTIATE_TEST_SUITE_P(Producers, NativeQueue, ::testing::Values(1u, 2u, 4u, 7u));

}  // namespace
}  // namespace abortscope::testing
