// SPDX-License-Identifier: Apache-2.0
//
// The scenario `ebizzy`: the locks that ebizzy takes in the kernel, without the kernel.
//
// Each worker, until the time is up: map a chunk of memory, copy into it page by page, search it,
// unmap it. One such record is one operation; operations_per_s is the program's score.
//
//   step            | the process's rwsem    | the zone's two spinlocks (under test)
//   ----------------+------------------------+----------------------------------------------------
//   map             | write, short           |
//   128 page faults | read, by trylock first | free list: once for `allocator_batch` pages
//                   |                        | page list (LRU): once for `lru_batch` pages
//   copy, search    |                        |
//   unmap           | write, longer          | the same two again, after a TLB shootdown, which
//                   |                        | waits for every other worker that is not asleep
//
// The locks under test are the zone's and the one inside the rwsem that its queue of waiters is
// changed under: all CPUs meet on them, and they are spinlocks, which the queue spinlock patch
// replaced. The rwsem is the 5.0 form in all trials.
//
// The checks: no lock lets anybody in beside an exclusive owner, and no page is lost or comes back
// twice.
//
// Source: the queue spinlock RFC thread, LKML 2013-08, which measured with ebizzy (allocate,
// copy and search 512 KiB chunks, mmap each); the kernel's part from mm/memory.c and
// mm/page_alloc.c (per-CPU lists are refilled by 31 pages, page vectors hold 14), the semaphore's
// wait_lock from lib/rwsem.c. Built from that description.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "primitives/owned.hpp"
#include "primitives/rwsem.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/exclusion_check.hpp"
#include "scenarios/lock_choice.hpp"
#include "scenarios/page_pool.hpp"
#include "scenarios/stop_flag.hpp"
#include "scenarios/tlb_shootdown.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    duration_parameter(20),
    ParameterSpec{.name = "pages",
                  .option = "",
                  .help = "4 KiB pages of a chunk",
                  .default_value = 128,
                  .minimum = 1,
                  .maximum = 65'536},
    ParameterSpec{.name = "allocator_batch",
                  .option = "",
                  .help = "pages that the allocator moves under the zone's lock at once",
                  .default_value = 31,
                  .minimum = 1,
                  .maximum = 1024},
    ParameterSpec{.name = "lru_batch",
                  .option = "",
                  .help = "pages that go onto and off the zone's page list under its lock at once",
                  .default_value = 14,
                  .minimum = 1,
                  .maximum = 1024},
    guests_parameter,
    queue_lock_parameters[0],
    queue_lock_parameters[1],
};
constexpr std::array<PhaseSpec, 1> phases{{{"records", true}}};
constexpr std::array<std::string_view, 1> policies{"none"};

// What a step takes beside its locks, in a guest on a two-socket Xeon of 2012. None was published
// with the benchmark: orders of magnitude, assumed.
constexpr std::uint64_t map_ns = 800;            ///< find a gap, insert the area
constexpr std::uint64_t fault_ns = 1000;         ///< enter the kernel, zero a page, map it
constexpr std::uint64_t copy_page_ns = 2500;     ///< 12 KiB of traffic at a core's share of 75 GB/s
constexpr std::uint64_t search_ns = 200;         ///< 16 steps of a binary search
constexpr std::uint64_t interrupt_ns = 500;      ///< answer a TLB shootdown
constexpr std::uint64_t unmap_ns = 800;          ///< find the area, remove it
constexpr std::uint64_t unmap_page_ns = 40;      ///< clear one entry
constexpr std::uint64_t allocator_page_ns = 30;  ///< under the free list's lock, for each page
constexpr std::uint64_t lru_page_ns = 40;        ///< under the page list's lock, for each page

template <class M, class Source>
class Ebizzy final : public Scenario {
  public:
    Ebizzy(const TrialSpec& spec, const Source& locks)
        : duration_ns_(static_cast<std::uint64_t>(spec.value("duration_ms")) * 1'000'000),
          pages_(static_cast<std::uint32_t>(spec.value("pages"))),
          batch_(static_cast<std::uint32_t>(spec.value("allocator_batch"))),
          lru_batch_(static_cast<std::uint32_t>(spec.value("lru_batch"))),
          map_lock_(
              make_owned<M, MapLock>("mmap_sem", spec.threads, locks.make("mmap_sem queue lock"))),
          zone_(locks.make("zone lock"), spec.threads * (pages_ + batch_),
                M::cycles_of_ns(allocator_page_ns)),
          tlb_(spec.threads, M::cycles_of_ns(interrupt_ns)),
          lru_(make_owned<M, Lru>("zone page list")),
          lru_lock_(locks.make("lru lock")),
          map_witnesses_(spec.threads),
          zone_witnesses_(spec.threads),
          lru_witnesses_(spec.threads) {
        for (unsigned worker = 0; worker < spec.threads; ++worker) {
            magazines_.push_back(zone_.magazine(pages_ + batch_));
        }
    }

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        typename StopFlag<M>::Clock clock(*stop_, duration_ns_, 1);
        Worker own{magazines_[worker], {}, {}, {}};
        std::uint64_t records = 0;
        tlb_.go_online();
        while (clock.runs_on()) {
            map(own);
            for (std::uint32_t page = 0; page < pages_; ++page) {
                fault(own, page);
                spend(copy_page_ns);
                tlb_.poll();
            }
            spend(search_ns);
            unmap(own);
            ++records;
        }
        tlb_.go_offline();
        zone_.give_back(own.magazine, own.magazine.count, own.zone);
        map_witnesses_[worker] = own.map;
        zone_witnesses_[worker] = own.zone;
        lru_witnesses_[worker] = own.lru;
        return records;
    }

    void check(std::size_t /*phase*/) override {
        require_excluded(*map_exclusion_, map_witnesses_);
        require_excluded(zone_.exclusion(), zone_witnesses_);
        require_excluded(lru_->exclusion, lru_witnesses_);
        zone_.check();
        if (const std::uint64_t pages = lru_->pages; pages != 0) {
            throw CheckFailed(std::to_string(pages) + " pages are still on the zone's list");
        }
    }

  private:
    /// The spinlock in the semaphore, which its waiters' queue is changed under.
    struct QueueSpinlock {
        explicit QueueSpinlock(Owned<M, typename Source::Lock> spinlock)
            : owned(std::move(spinlock)) {}
        void lock() { owned->lock(); }
        void unlock() { owned->unlock(); }
        Owned<M, typename Source::Lock> owned;
    };
    using MapLock = Rwsem<M, ReadTryLock::read_first, QueueSpinlock>;
    using Zone = PagePool<M, typename Source::Lock>;

    struct alignas(64) Lru {
        typename M::template Cell<std::uint64_t> pages{};
        ExclusionCheck<M> exclusion;
    };

    struct Worker {
        typename Zone::Magazine& magazine;
        ExclusionWitness map;
        ExclusionWitness zone;
        ExclusionWitness lru;
    };

    static void spend(std::uint64_t duration_ns) { work<M>(M::cycles_of_ns(duration_ns)); }

    void lock_map() {
        tlb_.go_offline();
        map_lock_->lock();
        tlb_.go_online();
    }

    void map(Worker& own) {
        lock_map();
        map_exclusion_->enter_exclusive(own.map);
        spend(map_ns);
        map_exclusion_->exit_exclusive(own.map);
        map_lock_->unlock();
    }

    void fault(Worker& own, std::uint32_t pages_in_use) {
        if (!map_lock_->try_lock_shared()) {
            tlb_.go_offline();
            map_lock_->lock_shared();
            tlb_.go_online();
        }
        map_exclusion_->enter_shared(own.map);
        spend(fault_ns);
        if (own.magazine.count == pages_in_use) {
            zone_.take(own.magazine, batch_, own.zone);
        }
        if ((pages_in_use + 1) % lru_batch_ == 0) {
            change_lru(own, [this](std::uint64_t pages) { return pages + lru_batch_; });
        }
        map_exclusion_->exit_shared(own.map);
        map_lock_->unlock_shared();
    }

    /// Frees all pages but what the magazine keeps for the next record.
    void unmap(Worker& own) {
        lock_map();
        map_exclusion_->enter_exclusive(own.map);
        spend(unmap_ns + pages_ * unmap_page_ns);
        tlb_.ask_others();
        for (std::uint32_t page = lru_batch_; page <= pages_; page += lru_batch_) {
            change_lru(own, [this](std::uint64_t pages) { return pages - lru_batch_; });
        }
        while (own.magazine.count > batch_) zone_.give_back(own.magazine, batch_, own.zone);
        map_exclusion_->exit_exclusive(own.map);
        map_lock_->unlock();
    }

    template <class Change>
    void change_lru(Worker& own, Change change) {
        lru_lock_->lock();
        lru_->exclusion.enter_exclusive(own.lru);
        const std::uint64_t pages = lru_->pages;
        lru_->pages = change(pages);
        spend(lru_page_ns * lru_batch_);
        lru_->exclusion.exit_exclusive(own.lru);
        lru_lock_->unlock();
    }

    const std::uint64_t duration_ns_;
    const std::uint32_t pages_;
    const std::uint32_t batch_;
    const std::uint32_t lru_batch_;
    Owned<M, StopFlag<M>> stop_ = make_owned<M, StopFlag<M>>("stop flag");
    Owned<M, MapLock> map_lock_;
    Owned<M, ExclusionCheck<M>> map_exclusion_ = make_owned<M, ExclusionCheck<M>>("mmap_sem check");
    Zone zone_;
    TlbShootdown<M> tlb_;
    Owned<M, Lru> lru_;
    Owned<M, typename Source::Lock> lru_lock_;
    std::vector<typename Zone::Magazine> magazines_;
    // Stored after each worker's loop.
    std::vector<ExclusionWitness> map_witnesses_;
    std::vector<ExclusionWitness> zone_witnesses_;
    std::vector<ExclusionWitness> lru_witnesses_;
};

constexpr ScenarioInfo info{
    .name = "ebizzy",
    .summary = "map, fault in, copy, search and unmap chunks: the locks of ebizzy in the kernel",
    .source = "queue spinlock RFC thread, LKML 2013-08",
    .parameters = parameters,
    .phases = phases,
    .locks = spinlocks,
    .default_policies = policies,
    .default_threads = 8,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_spinlocks<M, Ebizzy>(spec);
    }
};

}  // namespace

ScenarioEntry ebizzy_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
