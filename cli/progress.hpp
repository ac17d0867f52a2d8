// SPDX-License-Identifier: Apache-2.0
//
// One line that says how far a sweep is, rewritten in place, on a terminal only.
#pragma once

#include <chrono>
#include <cstddef>

namespace abortscope::cli {

class Progress {
  public:
    /// Shows nothing unless `wanted` and standard error is a terminal.
    Progress(std::size_t total, bool wanted);
    /// Clears the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    bool shown() const { return shown_; }
    void advance();
    /// Again, for the time that has passed.
    void refresh();
    /// Before something else is written to the terminal.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    std::size_t total_;
    std::size_t done_ = 0;
    bool shown_;
    Clock::time_point start_ = Clock::now();
};

}  // namespace abortscope::cli
