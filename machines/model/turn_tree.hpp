// SPDX-License-Identifier: Apache-2.0
//
// The CPUs that wait for their turn, smallest virtual time first, ties by number.
//
// A tournament tree over packed keys (time << 10 | CPU): a CPU's leaf is fixed by its number, a
// node holds the smaller key of its two children, the root holds the next CPU. Re-placing a CPU
// (an abort moves its victim) is one walk from its leaf to the root without a branch on the keys,
// which a processor could not predict. Knuth, The Art of Computer Programming 3, 5.2.3.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "machines/model/directory.hpp"

namespace abortscope::model {

class TurnTree {
  public:
    using Key = std::uint64_t;
    static constexpr unsigned id_bits = 10;
    /// Later than any CPU's key, even when a CPU's number and rounding are added to it.
    static constexpr Key never = ~Key{0} - ((Key{1} << id_bits) - 1);

    explicit TurnTree(std::size_t cpus)
        : leaves_(std::bit_ceil(std::max<std::size_t>(cpus, 2))), keys_(2 * leaves_, never) {}

    static Key key(Cycles time, std::uint32_t cpu) { return time << id_bits | cpu; }
    static std::uint32_t cpu_of(Key key) { return key & ((1u << id_bits) - 1); }
    static Cycles time_of(Key key) { return key >> id_bits; }

    bool empty() const { return waiting_ == 0; }
    std::size_t size() const { return waiting_; }
    Key top() const { return keys_[1]; }  ///< `never` if it is empty

    void insert(Key added) {
        ++waiting_;
        update(added);
    }

    Key pop() {
        const Key smallest = top();
        --waiting_;
        set(cpu_of(smallest), never);
        return smallest;
    }

    /// pop, then insert: `added` is not what comes out.
    Key replace_top(Key added) {
        const Key smallest = top();
        set(cpu_of(smallest), never);
        update(added);
        return smallest;
    }

    /// A CPU that waits has another time now.
    void update(Key changed) { set(cpu_of(changed), changed); }

  private:
    void set(std::uint32_t cpu, Key key) {
        std::size_t node = leaves_ + cpu;
        keys_[node] = key;
        while (node > 1) {
            key = std::min(key, keys_[node ^ 1]);
            node /= 2;
            keys_[node] = key;
        }
    }

    std::size_t leaves_;
    std::vector<Key> keys_;  ///< node i has the children 2i and 2i + 1; leaf c is leaves_ + c
    std::size_t waiting_ = 0;
};

}  // namespace abortscope::model
