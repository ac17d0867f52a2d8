// SPDX-License-Identifier: Apache-2.0
#include "scenarios/exclusion_check.hpp"

#include <gtest/gtest.h>

#include <array>

#include "machines/native/native_machine.hpp"
#include "machines/native/team.hpp"
#include "primitives/owned.hpp"
#include "primitives/tas_spinlock.hpp"

namespace abortscope {
namespace {

using M = native::NativeMachine;
using Check = ExclusionCheck<M>;

class Exclusion : public ::testing::Test {
  protected:
    bool holds() const {
        try {
            require_excluded(*check_, witnesses_);
        } catch (const CheckFailed&) {
            return false;
        }
        return true;
    }

    Owned<M, Check> check_ = make_owned<M, Check>("check");
    std::array<ExclusionWitness, 2> witnesses_{};
};

TEST_F(Exclusion, AcceptsSectionsOneAfterAnother) {
    check_->enter_exclusive(witnesses_[0]);
    check_->exit_exclusive(witnesses_[0]);
    check_->enter_shared(witnesses_[0]);
    check_->enter_shared(witnesses_[1]);
    check_->exit_shared(witnesses_[0]);
    check_->exit_shared(witnesses_[1]);
    check_->enter_exclusive(witnesses_[1]);
    check_->exit_exclusive(witnesses_[1]);
    EXPECT_TRUE(holds());
    EXPECT_EQ(check_->sections(), 2u);
}

TEST_F(Exclusion, NoticesTwoOwnersAtOnce) {
    check_->enter_exclusive(witnesses_[0]);
    check_->enter_exclusive(witnesses_[1]);
    EXPECT_FALSE(holds());
}

TEST_F(Exclusion, NoticesAReaderThatComesInBesideAnOwner) {
    check_->enter_exclusive(witnesses_[0]);
    check_->enter_shared(witnesses_[1]);
    EXPECT_FALSE(holds());
}

TEST_F(Exclusion, NoticesAnOwnerThatComesInBesideAReader) {
    check_->enter_shared(witnesses_[0]);
    check_->enter_exclusive(witnesses_[1]);
    EXPECT_TRUE(holds()) << "the reader has not looked yet";
    check_->exit_shared(witnesses_[0]);
    EXPECT_FALSE(holds());
}

TEST_F(Exclusion, NoticesASectionThatIsMissingFromTheCount) {
    check_->enter_exclusive(witnesses_[0]);
    check_->exit_exclusive(witnesses_[0]);
    ++witnesses_[1].exclusive_sections;
    EXPECT_FALSE(holds());
}

TEST_F(Exclusion, AcceptsALockThatExcludesOnThreads) {
    auto lock = make_owned<M, TasSpinlock<M>>("lock");
    native::Team team(2, {});
    team.run(2, [&](unsigned worker) {
        ExclusionWitness witness;
        for (unsigned i = 0; i < 20'000; ++i) {
            lock->lock();
            check_->enter_exclusive(witness);
            check_->exit_exclusive(witness);
            lock->unlock();
        }
        witnesses_[worker] = witness;
    });
    EXPECT_TRUE(holds());
    EXPECT_EQ(check_->sections(), 40'000u);
}

}  // namespace
}  // namespace abortscope
