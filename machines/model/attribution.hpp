// SPDX-License-Identifier: Apache-2.0
//
// Why each transaction aborted: who ended it, at which bytes of which line, from where.
//
// The engine makes one `AbortEvent` per abort and gives it to the `Attribution` of the trial,
// which adds it up by line, and to an `Observer`, if there is one (replay and trace are).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "machines/model/abort_reason.hpp"
#include "machines/model/directory.hpp"
#include "machines/model/memory_system.hpp"
#include "primitives/machine.hpp"
#include "primitives/rtm_status.hpp"

namespace abortscope::model {

inline constexpr std::uint64_t no_offset = ~std::uint64_t{0};

/// One abort. Offsets are into the arena; byte masks have bit i for byte i of the line.
struct AbortEvent {
    std::uint64_t number = 0;  ///< from 1, in the order of the trial
    Cycles began = 0;
    Cycles time = 0;
    AbortReason reason = AbortReason::injected;
    rtm::Status status;

    unsigned victim = 0;
    const char* victim_site = "";
    std::uint64_t victim_lock = no_offset;  ///< the lock that the transaction elided
    std::uint64_t victim_read = 0;          ///< of `line`
    std::uint64_t victim_written = 0;

    int killer = -1;  ///< a worker; -1 where nobody else was involved
    const char* killer_site = "";
    std::uint64_t killer_lock = no_offset;  ///< the lock that the killer's transaction elided
    bool killer_in_transaction = false;
    bool killer_wrote = false;
    std::uint64_t killer_bytes = 0;

    LineId line = no_line;   ///< no_line where no line was involved
    std::uint8_t level = 0;  ///< for capacity: the cache that overflowed, its set and way
    std::uint32_t set = 0;
    std::uint32_t way = 0;
    std::uint64_t lines = 0;  ///< that the transaction had touched

    /// A conflict over bytes that the victim had not touched in a clashing way.
    bool false_sharing() const {
        if (reason != AbortReason::conflict) return false;
        const std::uint64_t clashing = killer_wrote ? victim_read | victim_written : victim_written;
        return (clashing & killer_bytes) == 0;
    }
};

/// What one worker did to one line in aborts that the line caused.
struct LineParty {
    unsigned worker;
    std::uint64_t read = 0;  ///< bytes, as victim or killer
    std::uint64_t written = 0;
    std::uint64_t killed = 0;  ///< transactions of others that its access ended
    std::uint64_t died = 0;    ///< own transactions that ended here
};

struct LineHistory {
    std::uint64_t conflicts = 0;
    std::uint64_t false_sharing = 0;  ///< of the conflicts
    std::uint64_t by_read = 0;        ///< of the conflicts: the killer read what the victim wrote
    std::uint64_t from_outside = 0;   ///< of the conflicts: the killer was in no transaction
    std::uint64_t capacity = 0;
    std::uint64_t lock_busy = 0;     ///< explicit aborts because the lock in it was taken
    std::uint64_t lock = no_offset;  ///< the lock elided by the last victim
    std::uint64_t lock_word = 0;     ///< aborts in which the line held the victim's lock itself
    const char* victim_site = "";    ///< of the last abort
    const char* killer_site = "";
    std::vector<LineParty> parties;

    std::uint64_t aborts() const { return conflicts + capacity + lock_busy; }
};

class Attribution {
  public:
    Attribution(std::uint32_t sets, std::uint32_t ways)
        : ways_(ways), capacity_map_(std::size_t{sets} * ways) {}

    void add(const AbortEvent& event);

    const std::unordered_map<LineId, LineHistory>& lines() const { return lines_; }
    /// Capacity aborts by L1 set and way: index set * ways + way.
    const std::vector<std::uint64_t>& capacity_map() const { return capacity_map_; }
    std::uint32_t ways() const { return ways_; }
    const AbortReasonCounts& reasons() const { return reasons_; }
    /// Lines that transactions had touched when they overflowed, added up over capacity aborts.
    std::uint64_t capacity_lines() const { return capacity_lines_; }

  private:
    LineParty& party(LineHistory& line, unsigned worker);

    std::uint32_t ways_;
    std::unordered_map<LineId, LineHistory> lines_;
    std::vector<std::uint64_t> capacity_map_;
    AbortReasonCounts reasons_{};
    std::uint64_t capacity_lines_ = 0;
};

/// One access, as a replay shows it.
struct AccessEvent {
    Cycles time = 0;
    std::uint64_t offset = 0;
    unsigned size = 0;
    Access kind = Access::load;
    bool in_transaction = false;
    const char* site = "";
};

/// Told of everything that happens to workers, in the order of the simulation. It must change
/// nothing and may be slow: it is there for replay and trace, not for counting.
class Observer {
  public:
    virtual ~Observer() = default;
    /// A phase of the trial comes; none of the workers runs.
    virtual void phase(std::string_view /*name*/) {}
    virtual void accessed(unsigned /*worker*/, const AccessEvent& /*event*/) {}
    virtual void began(unsigned /*worker*/, Cycles /*time*/, std::uint64_t /*lock*/) {}
    /// The worker's transaction had run ahead: what it did after `settled`, its last so many
    /// accesses, has not happened yet.
    virtual void taken_back(unsigned /*worker*/, Cycles /*settled*/, std::uint64_t /*accesses*/) {}
    virtual void committed(unsigned /*worker*/, Cycles /*began*/, Cycles /*time*/) {}
    virtual void aborted(const AbortEvent& /*event*/) {}
    /// `lock` is no_offset for one outside the arena. What a transaction does to a lock is told as
    /// it happens, and undone by an abort.
    virtual void lock_step(unsigned /*worker*/, Cycles /*time*/, LockStep /*step*/,
                           std::uint64_t /*lock*/) {}
    virtual void waits(unsigned /*worker*/, Cycles /*time*/, std::uint64_t /*futex*/) {}
    virtual void sleeps(unsigned /*worker*/, Cycles /*time*/) {}
    /// Has lost its CPU, or has yielded it, and is ready to run on.
    virtual void preempted(unsigned /*worker*/, Cycles /*time*/) {}
    /// Runs on a CPU from here on: at the start, after waiting, sleeping or preemption.
    virtual void runs(unsigned /*worker*/, Cycles /*time*/, unsigned /*cpu*/) {}
    virtual void ended(unsigned /*worker*/, Cycles /*time*/) {}
};

}  // namespace abortscope::model
