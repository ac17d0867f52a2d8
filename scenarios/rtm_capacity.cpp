// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-capacity`: a transaction that touches many lines.
//
// Written lines must stay in the L1 data cache, read lines may leave it and are tracked further
// out, so the two have different limits. Where the lines lie decides how many fit: packed fills the
// sets evenly and uses the same lines again, fresh takes other neighbours each time (the published
// "16 KiB" limit), strided puts all into one set, random follows balls in bins.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "machines/random.hpp"
#include "primitives/owned.hpp"
#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array<std::string_view, 2> access_words{"write", "read"};
constexpr std::array<std::string_view, 4> placement_words{"packed", "strided", "random", "fresh"};
enum Access : std::int64_t { write, read };
enum Placement : std::int64_t { packed, strided, random_lines, fresh };

constexpr std::array parameters{
    transactions_parameter(200),
    ParameterSpec{.name = "footprint_lines",
                  .option = "",
                  .help = "64-byte lines that a transaction touches",
                  .default_value = 1024,
                  .minimum = 1,
                  .maximum = 1 << 18},
    ParameterSpec{.name = "access",
                  .option = "",
                  .help = "what the transaction does with each line",
                  .maximum = access_words.size() - 1,
                  .words = access_words},
    ParameterSpec{.name = "placement",
                  .option = "",
                  .help = "packed: neighbours, the same each time; fresh: other ones each time; "
                          "strided: every stride_lines-th; random: distinct "
                          "lines, drawn anew for each transaction",
                  .maximum = placement_words.size() - 1,
                  .words = placement_words},
    // All L1 data caches of processors with RTM have 64 sets.
    ParameterSpec{.name = "stride_lines",
                  .option = "",
                  .help = "distance of strided lines; 64: all in one set of the L1 cache",
                  .default_value = 64,
                  .minimum = 1,
                  .maximum = 4096},
};

template <class M>
class CapacityWorkload {
  public:
    explicit CapacityWorkload(const TrialSpec& spec)
        : access_(static_cast<Access>(spec.value("access"))),
          placement_(static_cast<Placement>(spec.value("placement"))),
          footprint_(static_cast<std::uint32_t>(spec.value("footprint_lines"))),
          stride_(static_cast<std::uint32_t>(spec.value("stride_lines"))) {
        if (lines_needed() > most_lines) {
            throw UsageError("footprint_lines x stride_lines is more than 4194304 lines (256 MiB)");
        }
        for (unsigned worker = 0; worker < spec.threads; ++worker) {
            workers_.push_back(make_worker(spec.seed, worker));
        }
    }

    /// A first touch inside a transaction would abort it for another reason.
    void start(unsigned worker) {
        Worker& own = workers_[worker];
        constexpr std::size_t lines_per_page = 64;
        for (std::size_t line = 0; line < lines_needed(); line += lines_per_page) {
            own.lines.get()[line].word = line;
        }
    }

    void prepare(unsigned worker) {
        Worker& own = workers_[worker];
        if (placement_ == fresh) {
            const std::uint64_t next = own.first + 2 * std::uint64_t{footprint_};
            own.first = next > lines_needed() ? 0 : own.first + footprint_;
        }
        if (placement_ != random_lines) return;
        // The beginning of a Fisher-Yates shuffle: distinct lines, each choice as likely.
        for (std::uint32_t i = 0; i < footprint_; ++i) {
            const auto other = i + own.random.below(own.order.size() - i);
            std::swap(own.order[i], own.order[other]);
        }
    }

    void inside(unsigned worker) const {
        const Worker& own = workers_[worker];
        Line* const lines = own.lines.get() + own.first;
        for (const std::uint32_t line : std::span(own.order).first(footprint_)) {
            if (access_ == write) {
                lines[line].word = line;
            } else {
                keep<std::uint64_t>(lines[line].word);
            }
        }
    }

    void check(std::span<const std::uint64_t> /*commits*/) const {}

  private:
    struct alignas(64) Line {
        typename M::template Cell<std::uint64_t> word{};
    };

    struct Worker {
        Owned<M, Line> lines;
        /// The lines to touch come first. Changed between transactions, only read inside.
        std::vector<std::uint32_t> order;
        Random random;
        std::uint64_t first = 0;  ///< where a fresh footprint starts; changed between transactions
    };

    // 256 MiB for each worker.
    static constexpr std::uint64_t most_lines = 1 << 22;
    // Random lines are drawn from enough others that their sets are nearly independent, as if the
    // addresses were anywhere.
    static constexpr std::uint64_t smallest_pool = 1 << 16;

    std::uint64_t lines_needed() const {
        switch (placement_) {
            case packed:
                return footprint_;
            case strided:
                return std::uint64_t{footprint_} * stride_;
            default:
                return std::max(smallest_pool, std::uint64_t{footprint_} * 4);
        }
    }

    Worker make_worker(std::uint64_t seed, unsigned worker) const {
        Worker own{
            make_owned_array<M, Line>("footprint", lines_needed()), {}, Random(seed, worker)};
        const std::uint64_t candidates = placement_ == random_lines ? lines_needed() : footprint_;
        const std::uint32_t step = placement_ == strided ? stride_ : 1;
        for (std::uint32_t i = 0; i < candidates; ++i) own.order.push_back(i * step);
        return own;
    }

    const Access access_;
    const Placement placement_;
    const std::uint32_t footprint_;
    const std::uint32_t stride_;
    std::vector<Worker> workers_;
};

constexpr std::array<Remedy, 3> remedies{{
    {.cause = rtm::Cause::capacity,
     .words = "split each transaction into {}",
     .changes = {{{.parameter = "footprint_lines", .kind = ParameterChange::Kind::divide},
                  {.parameter = "transactions", .kind = ParameterChange::Kind::multiply}}},
     .factors = split_factors,
     .splits_operations = true},
    {.cause = rtm::Cause::capacity,
     .words = "lay the lines side by side, so that they spread over the sets",
     .where = {"placement", strided},
     .changes = {{{.parameter = "placement", .value = packed}}}},
    {.cause = rtm::Cause::capacity,
     .words = "lay the lines side by side, so that they spread over the sets",
     .where = {"placement", random_lines},
     .changes = {{{.parameter = "placement", .value = packed}}}},
}};

constexpr ScenarioInfo info{
    .name = "rtm-capacity",
    .summary = "transactions of many lines: cause capacity",
    .source =
        "Intel SDM vol. 1, 16.3.8; Ritson and Barnes, CPA 2013; Cai, Blackburn and Bond, "
        "ISMM 2021",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 1,
    .remedies = remedies,
};

}  // namespace

ScenarioEntry rtm_capacity_entry() {
    return entry_of<BareTransactionsMaker<CapacityWorkload>>(info);
}

}  // namespace abortscope
