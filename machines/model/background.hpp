// SPDX-License-Identifier: Apache-2.0
//
// The lines of a core that belong to no scenario: stack, globals, page tables. Each of its threads
// uses one of its own lines, in turn, every `period` accesses.
//
// What counts is what that does to L1: the lines take places, keep them recently used, and come
// back after they have lost one. So a line that is in L1 is used only when its set is about to
// choose a victim, once for all its turns since the last choice (and after whatever else the set
// was asked for since: the one thing in which this differs from using it at its turn); and a
// thread's accesses are interrupted only when it is the turn of a line that is not in L1. Such a
// line may push out one that a transaction has written.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "machines/model/directory.hpp"

namespace abortscope::model {

/// Line numbers from here on belong to no scenario.
inline constexpr LineId background_base = 0xffff0000;

class Background {
  public:
    static constexpr std::uint32_t absent = ~std::uint32_t{0};

    struct Line {
        LineId id;
        std::uint32_t set;
        std::uint32_t number;  ///< of the thread's lines
        std::uint8_t thread;
        std::uint32_t slot = absent;  ///< of L1
        std::uint64_t used = 0;       ///< the last turn that L1 knows of
    };
    struct Clock {
        /// Accesses up to the one at which `due` must be asked.
        std::uint32_t left = far;
        std::uint32_t started = far;  ///< `left` when it was set
        std::uint64_t before = 0;     ///< how many accesses there were before that

        std::uint64_t accesses() const { return before + started - left; }
    };

    /// `sets` of L1, a power of two.
    Background(std::uint32_t lines, std::uint32_t period, std::uint32_t threads, std::uint32_t sets)
        : lines_of_thread_(lines), period_(period), first_(sets + 1), places_(threads * lines) {
        for (std::uint8_t thread = 0; thread < threads; ++thread) {
            for (std::uint32_t number = 0; number < lines; ++number) {
                // Spread over the sets by an odd step, each thread's lines apart from its
                // sibling's.
                const LineId id = background_base + number * 37 + thread * (1024u + 17u);
                lines_.push_back({id, id & (sets - 1), number, thread});
            }
        }
        std::stable_sort(lines_.begin(), lines_.end(),
                         [](const Line& a, const Line& b) { return a.set < b.set; });
        for (std::uint32_t place = 0; place < lines_.size(); ++place) {
            const Line& line = lines_[place];
            ++first_[line.set + 1];
            places_[line.thread * lines + line.number] = place;
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        for (std::uint8_t thread = 0; thread < threads; ++thread) set_clock(thread);
    }

    /// What the thread counts down at each access.
    Clock& clock(std::uint8_t thread) { return clocks_[thread]; }

    /// The thread's countdown is over: the line that comes into L1 now, or null.
    Line* due(std::uint8_t thread) {
        set_clock(thread);
        if (lines_of_thread_ == 0) return nullptr;
        Line& line = line_of(thread, turn_of(thread));
        return line.slot == absent ? &line : nullptr;
    }
    /// The line has come into L1.
    void came(Line& line, std::uint32_t slot) {
        line.slot = slot;
        line.used = turn_of(line.thread);
    }
    /// L1 has lost the line with that id.
    void lost(LineId id, std::uint32_t set) {
        for (Line& line : in(set)) {
            if (line.id != id) continue;
            line.slot = absent;
            const std::uint64_t turn = turn_of(line.thread);
            const std::uint64_t ahead = lines_of_thread_ - since_turn_of(line, turn);
            const std::uint64_t wait = (turn + ahead) * period_ - clocks_[line.thread].accesses();
            start_clock(line.thread, std::min<std::uint64_t>(wait, clocks_[line.thread].left));
        }
    }

    /// Those of a set of L1.
    std::span<Line> in(std::uint32_t set) {
        return {lines_.data() + first_[set], lines_.data() + first_[set + 1]};
    }
    /// Whether a line in L1 has had a turn since this was asked the last time.
    bool used(Line& line) const {
        const std::uint64_t turn = turn_of(line.thread);
        const std::uint64_t since = since_turn_of(line, turn);
        if (turn < line.used + since + 1) return false;
        line.used = turn - since;
        return true;
    }

  private:
    static constexpr std::uint32_t far = 1u << 30;

    /// Line n has the turns n, n + lines, n + 2 lines, ...; turn t comes with access t * period.
    std::uint64_t turn_of(std::uint8_t thread) const {
        return clocks_[thread].accesses() / period_;
    }

    /// How many turns ago the line's last one was.
    std::uint64_t since_turn_of(const Line& line, std::uint64_t turn) const {
        return (turn + lines_of_thread_ - line.number) % lines_of_thread_;
    }
    Line& line_of(std::uint8_t thread, std::uint64_t turn) {
        return lines_[places_[thread * lines_of_thread_ + turn % lines_of_thread_]];
    }

    /// Up to the next turn of a line that is not in L1.
    void set_clock(std::uint8_t thread) {
        const std::uint64_t turn = turn_of(thread);
        std::uint64_t wait = far;
        for (std::uint64_t next = turn + 1; next <= turn + lines_of_thread_; ++next) {
            if (line_of(thread, next).slot != absent) continue;
            wait = next * period_ - clocks_[thread].accesses();
            break;
        }
        start_clock(thread, wait);
    }
    void start_clock(std::uint8_t thread, std::uint64_t wait) {
        Clock& clock = clocks_[thread];
        clock.before = clock.accesses();
        clock.started = clock.left = static_cast<std::uint32_t>(wait);
    }

    std::uint32_t lines_of_thread_;
    std::uint32_t period_;
    std::vector<Line> lines_;            ///< by set
    std::vector<std::uint32_t> first_;   ///< of a set's lines
    std::vector<std::uint32_t> places_;  ///< in `lines_`, by thread and number
    std::array<Clock, 4> clocks_;
};

}  // namespace abortscope::model
