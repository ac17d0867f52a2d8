// SPDX-License-Identifier: Apache-2.0
//
// The RCU red-black tree against a multiset, and its readers beside a writer.
#include "primitives/rcu_rbtree.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

#include "machines/random.hpp"
#include "tests/primitives/model_trial.hpp"
#include "tests/primitives/stress.hpp"

namespace abortscope::testing {
namespace {

constexpr std::uint64_t value_of(std::uint64_t key) {
    return key * 3 + 1;
}

template <Machine M>
struct TreeAndReclaim {
    explicit TreeAndReclaim(unsigned workers)
        : rcu(workers),
          call_rcu(rcu, workers, *find_wake_up_form("futex"), 1, 20'000),
          tree(call_rcu) {}
    RcuDomain<M> rcu;
    CallRcu<M> call_rcu;
    RcuRbTree<M> tree;
    alignas(64) typename M::template Atomic<std::uint32_t> stop{0};
};

using NativeTree = TreeAndReclaim<PatientNative>;
using Oracle = std::multiset<std::uint64_t>;

void compare(const NativeTree& all, const Oracle& oracle, std::uint64_t keys) {
    ASSERT_EQ(all.tree.checked_size(), oracle.size());
    for (std::uint64_t key = 0; key < std::min<std::uint64_t>(keys, 64); ++key) {
        const auto found = all.tree.find(key);
        ASSERT_EQ(found.has_value(), oracle.contains(key));
        ASSERT_EQ(found.value_or(value_of(key)), value_of(key));
    }
}

void change_at_random(NativeTree& all, std::uint64_t keys) {
    constexpr unsigned steps = 6000;
    Oracle oracle;
    Random random(keys);
    for (unsigned step = 0; step < steps; ++step) {
        const std::uint64_t key = random.below(keys);
        if (random.below(steps) >= step) {  // grow first, shrink at the end
            all.tree.insert(key, value_of(key));
            oracle.insert(key);
        } else {
            const bool removed = all.tree.remove(key);
            const auto place = oracle.find(key);
            ASSERT_EQ(removed, place != oracle.end());
            if (removed) oracle.erase(place);
        }
        if (step % 16 == 0 || oracle.size() < 16) {
            ASSERT_NO_FATAL_FAILURE(compare(all, oracle, keys)) << step;
        }
    }
    for (std::uint64_t key = 0; key < keys; ++key) {
        while (all.tree.remove(key)) oracle.erase(oracle.find(key));
        ASSERT_TRUE(all.tree.checked_size().has_value());
    }
    ASSERT_TRUE(oracle.empty());
    ASSERT_EQ(all.tree.checked_size(), 0u);
}

TEST(RcuRbTreeOracle, FollowsAMultisetThroughRandomChanges) {
    for (std::uint64_t keys : {1u, 2u, 8u, 64u, 2048u}) {
        NativeTree all(2);
        on_threads(2, [&](unsigned worker) {
            if (worker == 1) {
                all.call_rcu.run_worker(0);
                return;
            }
            change_at_random(all, keys);
            all.call_rcu.stop();
        });
    }
}

/// Every fourth key is always there; the writer inserts and removes the others, so that those which
/// stay are often the successors of removed ones and are moved. A reader's searches for keys that
/// stay and yet were missed, or had another's value.
constexpr bool stays(std::uint64_t key) {
    return key % 4 == 3;
}

template <Machine M>
std::uint64_t misses(TreeAndReclaim<M>& all, std::uint64_t keys, std::uint64_t seed) {
    std::uint64_t missed = 0;
    Random random(seed, M::this_worker());
    while (all.stop.load(std::memory_order_acquire) == 0) {
        const std::uint64_t key = random.below(keys) | 3u;
        all.rcu.read_lock();
        const auto found = all.tree.find(key);
        all.rcu.read_unlock();
        missed += !found || *found != value_of(key) ? 1 : 0;
    }
    return missed;
}

template <Machine M>
void churn(TreeAndReclaim<M>& all, std::uint64_t keys, std::uint64_t seed, unsigned changes) {
    Random random(seed);
    std::vector<bool> present(keys, false);
    for (unsigned i = 0; i < changes; ++i) {
        const std::uint64_t key = random.below(keys);
        if (stays(key)) continue;
        if (present[key]) {
            EXPECT_TRUE(all.tree.remove(key));
        } else {
            all.tree.insert(key, value_of(key));
        }
        present[key] = !present[key];
    }
    all.stop.store(1, std::memory_order_release);
    all.call_rcu.stop();
}

template <Machine M>
std::uint64_t take_part(TreeAndReclaim<M>& all, unsigned worker, unsigned workers,
                        std::uint64_t keys, std::uint64_t seed, unsigned changes) {
    if (worker == 0) {
        churn(all, keys, seed, changes);
    } else if (worker == workers - 1) {
        all.call_rcu.run_worker(0);
    } else {
        return misses(all, keys, seed);
    }
    return 0;
}

template <Machine M>
void plant(TreeAndReclaim<M>& all, std::uint64_t keys) {
    for (std::uint64_t key = 0; key < keys; ++key) {
        if (stays(key)) all.tree.insert(key, value_of(key));
    }
}

using RcuRbTreeOnTheModel = OnTheModel;

TEST_F(RcuRbTreeOnTheModel, AKeyThatStaysIsAlwaysFoundBesideAWriter) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        constexpr unsigned workers = 6;
        const std::uint64_t keys = std::uint64_t{8} << seed % 3;
        ModelTrial trial(workers, seed, seed % 4 == 0 ? 2 : 0);
        auto all = make_owned<Model, TreeAndReclaim<Model>>("tree", workers);
        trial.run([&](unsigned worker) {
            if (worker == 0) plant(*all, keys);
        });
        std::array<std::uint64_t, workers> missed{};
        trial.run([&](unsigned worker) {
            missed[worker] = take_part(*all, worker, workers, keys, seed, 1000);
        });
        for (std::uint64_t count : missed) EXPECT_EQ(count, 0u) << seed;
        EXPECT_TRUE(all->tree.checked_size().has_value());
    }
}

class NativeRcuRbTree : public ::testing::TestWithParam<unsigned> {};

TEST_P(NativeRcuRbTree, AKeyThatStaysIsAlwaysFoundBesideAWriter) {
    const unsigned workers = GetParam() + 2;
    for (std::uint64_t keys : {8u, 512u}) {
        TreeAndReclaim<PatientNative> all(workers);
        on_threads(1, [&](unsigned) { plant(all, keys); });
        std::atomic<std::uint64_t> missed{0};
        on_threads(workers, [&](unsigned worker) {
            missed += take_part(all, worker, workers, keys, 7, 20'000);
        });
        EXPECT_EQ(missed.load(), 0u);
        EXPECT_TRUE(all.tree.checked_size().has_value());
    }
}

INSTANTIATE_TEST_SUITE_P(Readers, NativeRcuRbTree, ::testing::Values(1u, 2u, 6u));

}  // namespace
}  // namespace abortscope::testing
