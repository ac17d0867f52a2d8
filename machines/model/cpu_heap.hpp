// SPDX-License-Identifier: Apache-2.0
//
// The CPUs that have something to run, smallest virtual time first, ties by number.
//
// An indexed binary heap over packed keys (time << 10 | CPU), so that comparing is one integer
// comparison, and a CPU whose time changes (an abort moves its victim) can be re-placed.
#pragma once

#include <cstdint>
#include <vector>

#include "machines/model/directory.hpp"

namespace abortscope::model {

class CpuHeap {
  public:
    using Key = std::uint64_t;
    static constexpr unsigned id_bits = 10;
    /// Later than any CPU's key, even when a CPU's number and rounding are added to it.
    static constexpr Key never = ~Key{0} - ((Key{1} << id_bits) - 1);

    explicit CpuHeap(std::size_t cpus) : place_(cpus, absent) { keys_.reserve(cpus); }

    static Key key(Cycles time, std::uint32_t cpu) { return time << id_bits | cpu; }
    static std::uint32_t cpu_of(Key key) { return key & ((1u << id_bits) - 1); }
    static Cycles time_of(Key key) { return key >> id_bits; }

    bool empty() const { return keys_.empty(); }
    std::size_t size() const { return keys_.size(); }
    Key top() const { return keys_.empty() ? never : keys_.front(); }
    bool contains(std::uint32_t cpu) const { return place_[cpu] != absent; }

    void insert(Key added) {
        keys_.push_back(added);
        place_[cpu_of(added)] = static_cast<std::uint32_t>(keys_.size() - 1);
        sift_up(keys_.size() - 1);
    }

    Key pop() {
        const Key smallest = keys_.front();
        place_[cpu_of(smallest)] = absent;
        const Key last = keys_.back();
        keys_.pop_back();
        if (!keys_.empty()) sift_down(0, last);
        return smallest;
    }

    /// pop and insert in one walk: `added` goes in, the smallest comes out.
    Key replace_top(Key added) {
        const Key smallest = keys_.front();
        place_[cpu_of(smallest)] = absent;
        sift_down(0, added);
        return smallest;
    }

    /// A CPU in the heap has another time now.
    void update(Key changed) {
        const std::size_t at = place_[cpu_of(changed)];
        if (changed < keys_[at]) {
            keys_[at] = changed;
            sift_up(at);
        } else {
            sift_down(at, changed);
        }
    }

    void erase(std::uint32_t cpu) {
        const std::size_t at = place_[cpu];
        place_[cpu] = absent;
        const Key last = keys_.back();
        keys_.pop_back();
        if (at == keys_.size()) return;
        const Key old = keys_[at];
        keys_[at] = last;
        if (last < old) {
            place_[cpu_of(last)] = static_cast<std::uint32_t>(at);
            sift_up(at);
        } else {
            sift_down(at, last);
        }
    }

  private:
    static constexpr std::uint32_t absent = ~std::uint32_t{0};

    void set(std::size_t at, Key key) {
        keys_[at] = key;
        place_[cpu_of(key)] = static_cast<std::uint32_t>(at);
    }

    void sift_up(std::size_t at) {
        const Key moving = keys_[at];
        while (at > 0) {
            const std::size_t parent = (at - 1) / 2;
            if (keys_[parent] <= moving) break;
            set(at, keys_[parent]);
            at = parent;
        }
        set(at, moving);
    }

    void sift_down(std::size_t at, Key moving) {
        for (;;) {
            std::size_t child = at * 2 + 1;
            if (child >= keys_.size()) break;
            if (child + 1 < keys_.size() && keys_[child + 1] < keys_[child]) ++child;
            if (moving <= keys_[child]) break;
            set(at, keys_[child]);
            at = child;
        }
        set(at, moving);
    }

    std::vector<Key> keys_;
    std::vector<std::uint32_t> place_;
};

}  // namespace abortscope::model
