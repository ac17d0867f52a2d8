// SPDX-License-Identifier: Apache-2.0
//
// What an abort status means: its bits, its one cause, the XABORT code's conventional meaning, and
// what to do. And the same for the transaction flags that perf samples carry.
//
// Two people who count by different bits get different totals from one log, since bits co-occur
// (acceptance case A4): the bits are counted inclusively, the cause exclusively, by the precedence
// table of rtm_status.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "primitives/rtm_status.hpp"

namespace abortscope {

/// A whole number in hexadecimal (0x…) or decimal; nothing for anything else, or beyond 64 bits.
std::optional<std::uint64_t> parse_word(std::string_view text);

/// One status word: several lines, the first the word and its cause.
std::string explain_status(rtm::Status status);

/// The transaction flags of a perf sample (PERF_SAMPLE_TRANSACTION), as `perf report` spells them:
/// bits 7..0 are EL TX SYNC ASYNC RETRY CON CAP-WRITE CAP-READ, bits 63..32 the abort code.
/// Source: linux/perf_event.h.
std::string explain_transaction_flags(std::uint64_t flags);

/// Counts status words; their number and causes add up, bits may not.
class StatusLog {
  public:
    void add(rtm::Status status) { ++words_[status.word()]; }
    std::uint64_t size() const;
    /// Each distinct word once, the most frequent first, then the totals.
    std::string text() const;

  private:
    std::map<std::uint32_t, std::uint64_t> words_;
};

/// What it means where every abort's status is 0 and nothing commits.
inline constexpr std::string_view every_status_zero =
    "RTM is forced off, or each transaction makes a system call,\nfaults, or executes what RTM "
    "does "
    "not support";

/// The status words of a line of a log: every 0x… number in it, or the line's only word if that is
/// a number.
std::vector<std::uint64_t> words_in(std::string_view line);

}  // namespace abortscope
