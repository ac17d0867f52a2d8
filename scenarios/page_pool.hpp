// SPDX-License-Identifier: Apache-2.0
//
// The free pages of a simulated memory zone: a stack of page numbers under one spinlock, taken from
// and given back to in batches, as Linux's page allocator does for its per-CPU lists.
//
// The check: after all pages have come back each is there once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"
#include "scenarios/exclusion_check.hpp"
#include "scenarios/work.hpp"

namespace abortscope {

template <Machine M, class Lock>
class PagePool {
  public:
    /// What one worker holds.
    struct Magazine {
        Owned<M, typename M::template Cell<std::uint32_t>> pages;
        std::uint32_t count = 0;  ///< changed outside the lock
    };

    /// `page_cycles`: work under the lock for each page that is moved.
    PagePool(Owned<M, Lock> lock, std::uint32_t pages, std::uint64_t page_cycles)
        : lock_(std::move(lock)),
          size_(pages),
          page_cycles_(page_cycles),
          free_(make_owned_array<M, Page>("zone free list", pages)),
          free_count_(make_owned<M, Count>("zone free count")),
          exclusion_(make_owned<M, ExclusionCheck<M>>("exclusion check")) {
        for (std::uint32_t page = 0; page < pages; ++page) free_.get()[page] = page;
        free_count_->value = pages;
    }

    Magazine magazine(std::uint32_t capacity) const {
        return {make_owned_array<M, Page>("page magazine", capacity)};
    }

    /// Moves `batch` pages into the magazine. There are always enough: the owner sized the pool.
    void take(Magazine& magazine, std::uint32_t batch, ExclusionWitness& witness) {
        lock_->lock();
        exclusion_->enter_exclusive(witness);
        const std::uint32_t left = free_count_->value - batch;
        for (std::uint32_t i = 0; i < batch; ++i) {
            const std::uint32_t page = free_.get()[left + i];
            magazine.pages.get()[magazine.count + i] = page;
        }
        free_count_->value = left;
        work<M>(page_cycles_ * batch);
        exclusion_->exit_exclusive(witness);
        lock_->unlock();
        magazine.count += batch;
    }

    /// Moves the last `batch` pages of the magazine back.
    void give_back(Magazine& magazine, std::uint32_t batch, ExclusionWitness& witness) {
        lock_->lock();
        exclusion_->enter_exclusive(witness);
        const std::uint32_t free_now = free_count_->value;
        for (std::uint32_t i = 0; i < batch; ++i) {
            const std::uint32_t page = magazine.pages.get()[magazine.count - batch + i];
            free_.get()[free_now + i] = page;
        }
        free_count_->value = free_now + batch;
        work<M>(page_cycles_ * batch);
        exclusion_->exit_exclusive(witness);
        lock_->unlock();
        magazine.count -= batch;
    }

    /// After every magazine has been emptied. Throws CheckFailed.
    void check() const {
        if (const std::uint32_t count = free_count_->value; count != size_) {
            throw CheckFailed("the zone has " + std::to_string(count) + " free pages of " +
                              std::to_string(size_));
        }
        std::vector<bool> seen(size_);
        for (std::uint32_t i = 0; i < size_; ++i) {
            const std::uint32_t page = free_.get()[i];
            if (page >= size_ || seen[page]) {
                throw CheckFailed("page " + std::to_string(page) + " is in the zone twice");
            }
            seen[page] = true;
        }
    }

    const ExclusionCheck<M>& exclusion() const { return *exclusion_; }

  private:
    using Page = typename M::template Cell<std::uint32_t>;
    struct alignas(64) Count {
        Page value{};
    };

    Owned<M, Lock> lock_;
    const std::uint32_t size_;
    const std::uint64_t page_cycles_;
    Owned<M, Page> free_;  ///< the first free_count_ are free
    Owned<M, Count> free_count_;
    Owned<M, ExclusionCheck<M>> exclusion_;
};

}  // namespace abortscope
