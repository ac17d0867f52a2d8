// SPDX-License-Identifier: Apache-2.0
//
// One abort of a trial on the model, with the last accesses of both sides that led to it.
//
// A trial is a pure function of its spec, so nothing need be recorded while it runs for the first
// time: the trial is run again and watched until the abort with that number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/trial_runner.hpp"

namespace abortscope {

struct ReplayedAccess {
    std::int64_t cycles_before = 0;  ///< from this access to the abort
    unsigned worker = 0;
    std::string kind;    ///< load, store, atomic
    std::string object;  ///< "hmap.n", "node+8"
    unsigned size = 0;
    bool in_transaction = false;
    std::string site;
    bool on_line = false;  ///< of the line that the abort is about
};

struct Replay {
    std::uint64_t number = 0;  ///< of the abort
    std::uint64_t aborts = 0;  ///< of the whole trial
    std::uint64_t time_ns = 0;
    std::string reason;  ///< "conflict", "capacity (written line)", …
    std::uint32_t status = 0;
    unsigned victim = 0;
    std::optional<unsigned> killer;
    std::string lock;    ///< the lock that the victim elided; empty: none
    std::string object;  ///< the object that it is about; empty: no line was involved
    std::string victim_bytes;
    std::string killer_bytes;
    bool killer_wrote = false;
    bool killer_in_transaction = false;
    bool false_sharing = false;
    std::uint64_t cycles_in_transaction = 0;
    std::string place;                     ///< for capacity: the cache, set and way that overflowed
    std::vector<ReplayedAccess> accesses;  ///< oldest first, both sides, at most `last` of each
};

/// Runs the trial and returns its abort number `number` (from 1). Throws UsageError if the trial
/// has fewer, or runs natively.
Replay replay_abort(const ScenarioEntry& scenario, const TrialSpec& spec, std::uint64_t number,
                    std::size_t last);

/// As text, for a terminal.
std::string text_of(const Replay& replay);

}  // namespace abortscope
