// SPDX-License-Identifier: Apache-2.0
#include "scenarios/removal_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "profiler/scenario.hpp"

namespace abortscope {

namespace {
// No worker's bits share a cache line, nor a pair that is fetched together, with another's.
constexpr std::size_t padding_words = 16;
}  // namespace

RemovalLedger::RemovalLedger(unsigned workers, std::uint32_t keys)
    : keys_(keys), bits_(workers, std::vector<std::uint64_t>(keys / 64 + 1 + padding_words)) {}

void RemovalLedger::record(unsigned worker, std::uint32_t key) {
    std::uint64_t& word = bits_[worker][key / 64];
    const std::uint64_t bit = std::uint64_t{1} << key % 64;
    if ((word & bit) != 0) {
        throw CheckFailed(fmt::format("key {} was removed twice by worker {}", key, worker));
    }
    word |= bit;
}

void RemovalLedger::clear() {
    for (auto& words : bits_) std::fill(words.begin(), words.end(), 0);
}

void RemovalLedger::check(const std::vector<std::uint32_t>& keys_in_map) const {
    std::vector<std::uint32_t> times_in_map(keys_);
    for (const std::uint32_t key : keys_in_map) {
        if (key >= keys_) throw CheckFailed(fmt::format("key {} was never inserted", key));
        ++times_in_map[key];
    }
    for (std::uint32_t key = 0; key < keys_; ++key) {
        unsigned removals = 0;
        for (unsigned worker = 0; worker < bits_.size(); ++worker) {
            removals += removed_by(worker, key) ? 1 : 0;
        }
        if (removals + times_in_map[key] != 1) {
            throw CheckFailed(fmt::format("key {} is in the map {} times and was removed {} times",
                                          key, times_in_map[key], removals));
        }
    }
}

}  // namespace abortscope
