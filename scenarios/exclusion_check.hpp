// SPDX-License-Identifier: Apache-2.0
//
// Watches that a lock excludes whom it must: nobody beside an exclusive owner.
//
//     check.enter_exclusive();  ...  check.exit_exclusive();      // with the lock held
//     check.enter_shared();     ...  check.exit_shared();
//     require_excluded(check, witnesses);                         // afterwards; throws CheckFailed
//
// An exclusive owner leaves its number on a line beside the protected data and counts its section
// there without atomicity; whoever comes in, or goes out, and finds somebody else's number has
// found a violation, and a section that is missing from the count was run beside another.
//
// It is always on, so it must not change what it watches: readers only read a line that nobody
// writes while they are in; an exclusive owner writes one line that has gone with the lock anyway.
// Inside a transaction nothing is written (every elided section would conflict with every other):
// the owner's number is read, so that a real owner's entry aborts the elided one.
//
// The idea of an always-on checker is that of Linux's locktorture; nothing of its code.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "primitives/machine.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

/// What one worker saw. It lives on the worker's stack, so that what an elided section saw is
/// rolled back with it, and is stored after the worker's loop.
struct ExclusionWitness {
    std::uint64_t violations = 0;
    std::uint64_t exclusive_sections = 0;  ///< outside any transaction
};

/// Lives in the machine's memory.
template <Machine M>
class ExclusionCheck {
  public:
    using Witness = ExclusionWitness;

    ExclusionCheck() { M::describe(this, sizeof *this, "exclusion check"); }

    void enter_exclusive(Witness& witness) {
        note(witness, nobody);
        if (M::in_transaction()) return;
        owner_.store(own_number(), std::memory_order_relaxed);
        const std::uint64_t sections = sections_.load(std::memory_order_relaxed);
        sections_.store(sections + 1, std::memory_order_relaxed);
        ++witness.exclusive_sections;
    }

    void exit_exclusive(Witness& witness) {
        if (M::in_transaction()) {
            note(witness, nobody);
            return;
        }
        note(witness, own_number());
        owner_.store(nobody, std::memory_order_relaxed);
    }

    void enter_shared(Witness& witness) { note(witness, nobody); }
    void exit_shared(Witness& witness) { note(witness, nobody); }

    /// Exclusive sections that were run one after another: the sum of the witnesses', or less.
    std::uint64_t sections() const { return sections_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::uint32_t nobody = 0;

    static std::uint32_t own_number() { return M::this_worker() + 1; }

    void note(Witness& witness, std::uint32_t expected) const {
        if (owner_.load(std::memory_order_relaxed) != expected) ++witness.violations;
    }

    // Atomic, because what is looked for is a race on them; relaxed, because the lock orders them.
    alignas(64) typename M::template Atomic<std::uint32_t> owner_{nobody};
    typename M::template Atomic<std::uint64_t> sections_{0};
};

/// Throws CheckFailed if somebody was in who had to be out.
template <Machine M>
void require_excluded(const ExclusionCheck<M>& check, std::span<const ExclusionWitness> witnesses) {
    ExclusionWitness sum;
    for (const ExclusionWitness& witness : witnesses) {
        sum.violations += witness.violations;
        sum.exclusive_sections += witness.exclusive_sections;
    }
    if (sum.violations != 0) {
        throw CheckFailed("the lock did not exclude: " + std::to_string(sum.violations) +
                          " times somebody was inside beside an exclusive owner");
    }
    if (sum.exclusive_sections != check.sections()) {
        throw CheckFailed("the lock did not exclude: of " + std::to_string(sum.exclusive_sections) +
                          " exclusive sections only " + std::to_string(check.sections()) +
                          " came one after another");
    }
}

}  // namespace abortscope
