// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-first-touch`: transactions that are the first to touch a page.
//
// A page fault inside a transaction aborts it with status 0 and is suppressed, so the page is not
// mapped and the next attempt faults again: retrying never helps. For each page a worker makes
// `attempts` attempts, then touches the page outside, then tries once more, which commits. With
// prefault 1 the page is touched outside before: the cure.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "profiler/scenario.hpp"
#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    ParameterSpec{.name = "pages",
                  .option = "",
                  .help = "fresh 4 KiB pages for each worker",
                  .default_value = 2000,
                  .minimum = 1,
                  .maximum = 1 << 18},
    ParameterSpec{.name = "attempts",
                  .option = "",
                  .help = "transactions that try to be the first to touch a page",
                  .default_value = 3,
                  .minimum = 0,
                  .maximum = 1000},
    ParameterSpec{.name = "prefault",
                  .option = "",
                  .help = "1: touch each page outside before",
                  .default_value = 0,
                  .minimum = 0,
                  .maximum = 1},
};

template <class M>
class RtmFirstTouch final : public Scenario {
  public:
    explicit RtmFirstTouch(const TrialSpec& spec)
        : pages_(static_cast<std::size_t>(spec.value("pages"))),
          attempts_(static_cast<unsigned>(spec.value("attempts"))),
          prefault_(spec.value("prefault") != 0) {
        require_rtm<M>(*spec.scenario);
        for (unsigned worker = 0; worker < spec.threads; ++worker) {
            fresh_.push_back(static_cast<std::byte*>(M::allocate(bytes(), page_size)));
            M::describe(fresh_.back(), bytes(), "fresh page");
        }
    }
    ~RtmFirstTouch() override {
        for (std::byte* const memory : fresh_) M::deallocate(memory, bytes(), page_size);
    }

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        std::uint64_t commits = 0;
        for (std::size_t page = 0; page < pages_; ++page) {
            std::byte* const place = fresh_[worker] + page * page_size;
            if (prefault_) touch(place);
            for (unsigned i = 0; i < attempts_; ++i) {
                if (attempt<M>([place] { touch(place); })) ++commits;
            }
            touch(place);
            if (attempt<M>([place] { touch(place); })) ++commits;
        }
        return commits;
    }

  private:
    static constexpr std::size_t page_size = 4096;
    // glibc's malloc maps blocks beyond 32 MiB (DEFAULT_MMAP_THRESHOLD_MAX) afresh each time, so
    // that no page of them has been touched by an earlier trial.
    static constexpr std::size_t smallest_block = std::size_t{33} << 20;

    std::size_t bytes() const { return std::max(pages_ * page_size, smallest_block); }

    /// The store that constructs the object is the first touch.
    static void touch(std::byte* place) {
        auto* const cell = ::new (place) typename M::template Cell<std::uint64_t>(1);
        asm volatile("" ::"r"(cell) : "memory");
    }

    const std::size_t pages_;
    const unsigned attempts_;
    const bool prefault_;
    std::vector<std::byte*> fresh_;  ///< one block a worker; no byte of it touched yet
};

constexpr std::array<Remedy, 1> remedies{{
    {.cause = rtm::Cause::other,
     .words = "touch each page before the transaction begins",
     .changes = {{{.parameter = "prefault", .value = 1}}}},
}};

constexpr ScenarioInfo info{
    .name = "rtm-first-touch",
    .summary = "transactions that are the first to touch a page: cause other (status 0)",
    .source = "Intel SDM vol. 1, 16.3.8.2; schencoding/lbtree issue 8",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
    .remedies = remedies,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return std::make_unique<RtmFirstTouch<M>>(spec);
    }
};

}  // namespace

ScenarioEntry rtm_first_touch_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
