// SPDX-License-Identifier: Apache-2.0
//
// The oracle of the map scenarios: which worker removed which key, kept apart from the map.
//
// Workers record a removal after they have left the critical section, so outside any transaction:
// the ledger is host memory, which no abort rolls back, and costs the measured code one bit on a
// line of the worker's own.
#pragma once

#include <cstdint>
#include <vector>

namespace abortscope {

class RemovalLedger {
  public:
    RemovalLedger(unsigned workers, std::uint32_t keys);

    /// By the worker itself. Throws CheckFailed if it has removed this key before.
    void record(unsigned worker, std::uint32_t key);

    /// Forgets everything; the map is full again.
    void clear();

    /// Compares with the keys found in the map, in any order: each key is either there once, or was
    /// removed by exactly one worker. Throws CheckFailed with the first key for which this does not
    /// hold.
    void check(const std::vector<std::uint32_t>& keys_in_map) const;

  private:
    bool removed_by(unsigned worker, std::uint32_t key) const {
        return (bits_[worker][key / 64] >> key % 64 & 1u) != 0;
    }

    std::uint32_t keys_;
    std::vector<std::vector<std::uint64_t>> bits_;  ///< one bit a key, one vector a worker
};

}  // namespace abortscope
