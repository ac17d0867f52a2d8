// SPDX-License-Identifier: Apache-2.0
//
// Aborts around the user's own code, by lock and place.
//
//     abortscope::elided_mutex accounts;
//
//     void transfer() {
//         const abortscope::Region region("accounts", "transfer");  // before the guard
//         const std::lock_guard guard(accounts);
//         ...
//     }
//     ...
//     abortscope::write_region_csv("aborts.csv");   // reports/region_csv.hpp
//
// A region takes the difference of the thread's AbortLog, which the elided locks of this library
// keep, between its start and its end; regions may nest, and the outer one includes the inner. Code
// with an RTM loop of its own tells its region what happened (`attempt`, `aborted`, …). A region
// that starts inside a transaction does nothing, since its statistics would abort it.
//
// Counters of the processor are read only after `count_regions`: they cost system calls at both
// ends of every region (bench/observer_bench).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "primitives/abort_log.hpp"
#include "profiler/counters/counter.hpp"
#include "profiler/row.hpp"

namespace abortscope {

namespace detail {
struct OpenRegion;
}

class Region {
  public:
    /// The names are compared by content and copied on a thread's first use of them. It ends on the
    /// thread on which it began.
    Region(std::string_view lock, std::string_view site);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

    // For an RTM loop of one's own, outside transactions: each XBEGIN is an attempt, which is then
    // either aborted or committed; fell_back says that the lock was really taken.
    void attempt();
    void aborted(rtm::Status status);
    void committed();
    void fell_back();

  private:
    detail::OpenRegion* open_ = nullptr;  ///< the thread's own; null inside a transaction
};

/// What all threads have counted, one row for each lock and site in the order of first use:
/// `scenario` is "region", `phase` the site, `operations` the entries of each thread, `threads`
/// how many threads entered it, `duration_ns` the time inside, the mean of these threads. Regions
/// that are open now count when they end.
std::vector<Measurement> region_rows();

/// Forgets everything that was counted. Call it where no region is open.
void reset_regions();

/// From now on counts these too, on each thread from its next region on: one pass of a tested plan,
/// as many of `asked` as the CPU can count at once. Returns the plan in words. Not from two threads
/// at a time.
std::string count_regions(std::span<const Counter> asked);

/// No longer.
void stop_counting_regions();

}  // namespace abortscope
