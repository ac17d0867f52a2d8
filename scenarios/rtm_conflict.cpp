// SPDX-License-Identifier: Apache-2.0
//
// The scenario `rtm-conflict`: transactions of two roles that meet on one line.
//
//   roles \ bytes   | same                | disjoint               | padded
//   ----------------+---------------------+------------------------+--------------
//   read-read       | no conflict         | no conflict            | no conflict
//   read-write      | true sharing        | false sharing          | no conflict
//   write-write     | true sharing        | false sharing          | no conflict
//
// Worker 0 has the first role, all others the second. A writer adds one to its word. Conflicts are
// detected by line, so disjoint words of one line abort as the same word does: the padded layout is
// the cure of false sharing, and of nothing else.
//
// The check: the words hold what committed writers added.
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

#include "primitives/owned.hpp"
#include "scenarios/bare_transactions.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array<std::string_view, 3> roles_words{"write-write", "read-write", "read-read"};
constexpr std::array<std::string_view, 3> bytes_words{"same", "disjoint", "padded"};
enum Roles : std::int64_t { write_write, read_write, read_read };
enum Bytes : std::int64_t { same, disjoint, padded };

constexpr std::array parameters{
    transactions_parameter(2000),
    ParameterSpec{.name = "roles",
                  .option = "",
                  .help = "what worker 0 and what the others do with their word",
                  .maximum = roles_words.size() - 1,
                  .words = roles_words},
    ParameterSpec{.name = "bytes",
                  .option = "",
                  .help = "same: one word; disjoint: words of one line; padded: lines of their own",
                  .maximum = bytes_words.size() - 1,
                  .words = bytes_words},
    ParameterSpec{.name = "work_cycles",
                  .option = "",
                  .help = "work between the access and the end of the transaction",
                  .default_value = 500,
                  .minimum = 0,
                  .maximum = 10'000'000},
    ParameterSpec{.name = "gap_cycles",
                  .option = "",
                  .help = "work between two transactions",
                  .default_value = 1000,
                  .minimum = 0,
                  .maximum = 10'000'000},
};

template <class M>
class ConflictWorkload {
  public:
    explicit ConflictWorkload(const TrialSpec& spec)
        : roles_(static_cast<Roles>(spec.value("roles"))),
          bytes_(static_cast<Bytes>(spec.value("bytes"))),
          work_cycles_(static_cast<std::uint64_t>(spec.value("work_cycles"))),
          gap_cycles_(static_cast<std::uint64_t>(spec.value("gap_cycles"))),
          lines_(make_owned_array<M, Line>("shared line", bytes_ == padded ? spec.threads : 1)) {}

    void start(unsigned worker) {
        M::site(writes(worker) ? "writer" : "reader");
        keep<std::uint64_t>(word_of(worker));
    }
    void prepare(unsigned /*worker*/) { work<M>(gap_cycles_); }

    void inside(unsigned worker) {
        auto& word = word_of(worker);
        const std::uint64_t value = word;
        if (writes(worker)) word = value + 1;
        work<M>(work_cycles_);
    }

    void check(std::span<const std::uint64_t> commits) const {
        std::uint64_t written = 0;
        for (unsigned worker = 0; worker < commits.size(); ++worker) {
            if (writes(worker)) written += commits[worker];
        }
        std::uint64_t sum = 0;
        const std::size_t lines = bytes_ == padded ? commits.size() : 1;
        for (std::size_t line = 0; line < lines; ++line) {
            for (const auto& word : lines_.get()[line].words) sum += word;
        }
        require_sum(sum, written);
    }

  private:
    using Word = typename M::template Cell<std::uint64_t>;
    struct alignas(64) Line {
        std::array<Word, 8> words{};
    };

    bool writes(unsigned worker) const {
        return roles_ == write_write || (roles_ == read_write && worker != 0);
    }

    /// A ninth worker shares the first one's word: a line has no more.
    Word& word_of(unsigned worker) {
        Line* const lines = lines_.get();
        switch (bytes_) {
            case same:
                return lines[0].words[0];
            case disjoint:
                return lines[0].words[worker % lines[0].words.size()];
            default:
                return lines[worker].words[0];
        }
    }

    const Roles roles_;
    const Bytes bytes_;
    const std::uint64_t work_cycles_;
    const std::uint64_t gap_cycles_;
    Owned<M, Line> lines_;
};

constexpr std::array<Remedy, 2> remedies{{
    {.cause = rtm::Cause::conflict,
     .words = "pad each worker's word to a cache line of its own",
     .where = {"bytes", disjoint},
     .changes = {{{.parameter = "bytes", .value = padded}}}},
    {.cause = rtm::Cause::conflict,
     .words = "give each worker a word and a cache line of its own, and add up at the end",
     .where = {"bytes", same},
     .changes = {{{.parameter = "bytes", .value = padded}}}},
}};

constexpr ScenarioInfo info{
    .name = "rtm-conflict",
    .summary = "transactions that meet on one line, in the same bytes or not: cause conflict",
    .source = "Intel SDM vol. 1, 16.3.8: conflicts are detected at the granularity of a line",
    .parameters = parameters,
    .phases = bare_transaction_phases,
    .default_threads = 2,
    .remedies = remedies,
};

}  // namespace

ScenarioEntry rtm_conflict_entry() {
    return entry_of<BareTransactionsMaker<ConflictWorkload>>(info);
}

}  // namespace abortscope
