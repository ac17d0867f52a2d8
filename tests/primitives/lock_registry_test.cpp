// SPDX-License-Identifier: Apache-2.0
//
// Every lock kind by its name: exclusion on real threads, plain and under each policy.
#include "primitives/lock_registry.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/primitives/stress.hpp"

namespace abortscope::testing {
namespace {

TEST(LockRegistry, NamesAreUniqueAndFound) {
    std::set<std::string_view> names;
    for (const LockKind& kind : lock_kinds) {
        EXPECT_EQ(find_lock_kind(kind.name), &kind);
        EXPECT_FALSE(kind.summary.empty());
        EXPECT_FALSE(kind.source.empty());
        names.insert(kind.name);
    }
    EXPECT_EQ(names.size(), lock_kinds.size());
    EXPECT_EQ(find_lock_kind("spin"), nullptr);
    EXPECT_THROW(visit_lock<Native>("spin", [](auto) { return 0; }), std::out_of_range);
}

TEST(LockRegistry, EachRowSaysWhetherReadersShare) {
    for (const LockKind& kind : lock_kinds) {
        const bool shared = visit_lock<Native>(
            kind.name, []<class Kind>(Kind) { return SharedLockable<typename Kind::Lock>; });
        EXPECT_EQ(shared, kind.shared) << kind.name;
    }
}

struct Case {
    std::string_view kind;
    unsigned threads;
};

std::vector<Case> cases_of(bool only_shared) {
    std::vector<Case> cases;
    for (const LockKind& kind : lock_kinds) {
        if (only_shared && !kind.shared) continue;
        for (unsigned threads : stress_threads) cases.push_back({kind.name, threads});
    }
    return cases;
}

class EveryLock : public ::testing::TestWithParam<Case> {};

TEST_P(EveryLock, Excludes) {
    visit_lock<PatientNative>(GetParam().kind, []<class Kind>(Kind) {
        const unsigned threads = GetParam().threads;
        auto lock = Kind::make("lock", no_elision, {.workers = threads});
        stress_exclusive(*lock, threads, stress_rounds / 8);
        EXPECT_TRUE(lock->is_free());
    });
}

class EverySharedLock : public ::testing::TestWithParam<Case> {};

TEST_P(EverySharedLock, KeepsReadersAndWritersApart) {
    visit_lock<PatientNative>(GetParam().kind, []<class Kind>(Kind) {
        if constexpr (SharedLockable<typename Kind::Lock>) {
            const unsigned threads = GetParam().threads;
            auto lock = Kind::make("lock", no_elision, {.workers = threads});
            stress_shared(*lock, threads, stress_rounds / 4);
            EXPECT_TRUE(lock->is_free());
        } else {
            FAIL() << "the row says that readers share it";
        }
    });
}

std::string name_of(const ::testing::TestParamInfo<Case>& test) {
    std::string name(test.param.kind);
    for (char& c : name) {
        if (c == '-' || c == '.') c = '_';
    }
    return name + "_" + std::to_string(test.param.threads);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryLock, ::testing::ValuesIn(cases_of(false)), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, EverySharedLock, ::testing::ValuesIn(cases_of(true)), name_of);

}  // namespace
}  // namespace abortscope::testing
