// SPDX-License-Identifier: Apache-2.0
//
// What one worker counts about its elided and real acquisitions.
//
// A log belongs to one worker, fills cache lines of its own and is written only outside
// transactions: a counter that workers share, or that a transaction writes, would double the abort
// rate that it counts. The one exception is `nested_elided`, which an *inner* elided unlock raises
// inside the transaction; it lies on the worker's own line and is published by the outermost
// commit, and dropped when the outermost attempt aborts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "primitives/rtm_status.hpp"

namespace abortscope {

struct alignas(128) AbortLog {
    std::uint64_t attempts = 0;      ///< outermost XBEGINs
    std::uint64_t commits = 0;       ///< outermost commits
    std::uint64_t acquisitions = 0;  ///< successful calls of lock and try_lock; elided + fallbacks
    std::uint64_t elided = 0;        ///< acquisitions whose transaction committed
    std::uint64_t fallbacks = 0;     ///< acquisitions that really took the lock
    std::uint64_t misuses = 0;       ///< unlocks of a lock that nobody held, reported, not executed

    std::array<std::uint64_t, rtm::cause_count> causes{};
    std::array<std::uint64_t, rtm::status_bit_count> bits{};
    std::array<std::uint64_t, 256> explicit_codes{};

    // The lemming index: how real acquisitions follow each other. Only policies that elide feed it.
    std::uint64_t fallback_run = 0;
    std::uint64_t longest_fallback_run = 0;
    std::uint64_t acquisitions_after_fallback = 0;
    std::uint64_t fallbacks_after_fallback = 0;
    bool previous_fell_back = false;

    std::uint32_t nested_elided = 0;

    std::uint64_t aborts() const {
        std::uint64_t sum = 0;
        for (std::uint64_t count : causes) sum += count;
        return sum;
    }

    /// An outermost attempt ended in an abort.
    void record_abort(rtm::Status status) {
        ++causes[static_cast<std::size_t>(rtm::cause_of(status))];
        for (std::size_t bit = 0; bit < rtm::status_bit_count; ++bit) {
            bits[bit] += status.word() >> bit & 1u;
        }
        if (status.has(rtm::StatusBit::explicit_abort)) ++explicit_codes[status.xabort_code()];
        nested_elided = 0;
    }

    /// An outermost transaction committed; it stands for `1 + nested_elided` acquisitions.
    void record_commit() {
        const std::uint64_t acquired = 1 + nested_elided;
        nested_elided = 0;
        ++commits;
        elided += acquired;
        acquisitions += acquired;
        if (previous_fell_back) ++acquisitions_after_fallback;
        previous_fell_back = false;
        fallback_run = 0;
    }

    /// A lock without elision was taken.
    void record_plain() {
        ++fallbacks;
        ++acquisitions;
    }

    /// A lock under elision was really taken.
    void record_fallback() {
        ++fallbacks;
        ++acquisitions;
        if (previous_fell_back) {
            ++acquisitions_after_fallback;
            ++fallbacks_after_fallback;
        }
        previous_fell_back = true;
        longest_fallback_run = std::max(longest_fallback_run, ++fallback_run);
    }
};

}  // namespace abortscope
