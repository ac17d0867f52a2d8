// SPDX-License-Identifier: Apache-2.0
#include "profiler/region.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "machines/native/affinity.hpp"
#include "machines/native/native_machine.hpp"
#include "profiler/counters/counter_group.hpp"
#include "profiler/counters/reading_of.hpp"
#include "profiler/counters/self_test.hpp"

namespace abortscope {
namespace {

using native::NativeMachine;

using Samples = std::array<Sample, counter_count>;

/// What count_regions asked for. Never freed: threads may still read with it.
struct Counting {
    HostDescription host;
    CounterPlan plan;
};

std::atomic<const Counting*> counting{nullptr};

void add(Sample& to, const Sample& more) {
    // A failure stays: a sum with a part missing is no number.
    if (to.state == SampleState::open_failed || to.state == SampleState::read_failed) return;
    if (more.state == SampleState::counted || more.state == SampleState::never_ran) {
        to.value += more.value;
        to.enabled_ns += more.enabled_ns;
        to.running_ns += more.running_ns;
        to.state = to.running_ns == 0 ? SampleState::never_ran : SampleState::counted;
    } else {
        to = more;
    }
}

Sample difference(const Sample& now, const Sample& before) {
    Sample sample = now;
    sample.value -= before.value;
    sample.enabled_ns -= before.enabled_ns;
    sample.running_ns -= before.running_ns;
    return sample;
}

void add_difference(AbortLog& to, const AbortLog& now, const AbortLog& before) {
    to.attempts += now.attempts - before.attempts;
    to.commits += now.commits - before.commits;
    to.acquisitions += now.acquisitions - before.acquisitions;
    to.elided += now.elided - before.elided;
    const std::uint64_t fallbacks = now.fallbacks - before.fallbacks;
    to.fallbacks += fallbacks;
    to.misuses += now.misuses - before.misuses;
    for (std::size_t i = 0; i < to.causes.size(); ++i)
        to.causes[i] += now.causes[i] - before.causes[i];
    for (std::size_t i = 0; i < to.bits.size(); ++i) to.bits[i] += now.bits[i] - before.bits[i];
    for (std::size_t i = 0; i < to.explicit_codes.size(); ++i) {
        to.explicit_codes[i] += now.explicit_codes[i] - before.explicit_codes[i];
    }
    to.acquisitions_after_fallback +=
        now.acquisitions_after_fallback - before.acquisitions_after_fallback;
    to.fallbacks_after_fallback += now.fallbacks_after_fallback - before.fallbacks_after_fallback;
    // The thread's own run may span several regions; a region's is made of whole passages.
    const bool all_fell_back = fallbacks != 0 && now.elided == before.elided;
    to.fallback_run = all_fell_back ? to.fallback_run + fallbacks : 0;
    to.longest_fallback_run = std::max(to.longest_fallback_run, to.fallback_run);
}

}  // namespace

namespace detail {

/// What one thread has counted in one region.
struct RegionEntry {
    std::string lock;
    std::string site;
    std::uint64_t entries = 0;
    std::uint64_t duration_ns = 0;
    AbortLog log;
    Samples samples{};
    const Counting* counted_by = nullptr;
};

/// A region that has not ended, and what its thread had counted when it began.
struct OpenRegion {
    RegionEntry* entry = nullptr;
    std::uint64_t start_ns = 0;
    AbortLog log;
    Samples samples{};
    const Counting* counted_by = nullptr;
};

}  // namespace detail

namespace {

using detail::OpenRegion;
using detail::RegionEntry;

/// The regions of one thread. The mutex is the thread's own but for the moments in which
/// region_rows reads.
struct ThreadRegions {
    std::mutex mutex;
    std::deque<RegionEntry> entries;  // which keeps its elements in place
};

struct Registry {
    std::mutex mutex;
    std::vector<std::shared_ptr<ThreadRegions>> threads;
};

/// Never destroyed: a thread may end after main's statics.
Registry& registry() {
    static auto* all = new Registry;
    return *all;
}

/// This thread's counters: open from its first region under a plan until the thread's end.
class ThreadCounters {
  public:
    /// The plan that regions count by now, or null; opens its counters.
    const Counting* wanted() {
        const Counting* now = counting.load(std::memory_order_acquire);
        if (now != opened_for_) open(now);
        return now;
    }

    /// The totals since the counters were opened.
    const Samples& read() {
        const CounterPass& pass = opened_for_->plan.passes.front();
        read(*hardware_, pass.hardware);
        read(*software_, pass.software);
        return totals_;
    }
    const Samples& totals() const { return totals_; }

  private:
    void open(const Counting* now) {
        opened_for_ = now;
        totals_ = {};
        hardware_ = std::make_unique<CounterGroup>();
        software_ = std::make_unique<CounterGroup>();
        if (now == nullptr) return;
        hardware_->open(now->plan.passes.front().hardware);
        software_->open(now->plan.passes.front().software);
        software_->enable();
        hardware_->enable();
    }
    void read(CounterGroup& group, std::span<const EventRequest> events) {
        std::array<Sample, CounterGroup::most_events> buffer{};
        const auto samples = std::span(buffer).first(events.size());
        group.read(samples);
        for (std::size_t i = 0; i < events.size(); ++i) {
            add(totals_[index_of(events[i].counter)], samples[i]);
        }
    }

    const Counting* opened_for_ = nullptr;
    std::unique_ptr<CounterGroup> hardware_;
    std::unique_ptr<CounterGroup> software_;
    Samples totals_{};
};

struct ThisThreadsRegions {
    std::shared_ptr<ThreadRegions> regions = std::make_shared<ThreadRegions>();
    ThreadCounters counters;

    ThisThreadsRegions() {
        const std::scoped_lock lock(registry().mutex);
        registry().threads.push_back(regions);
    }

    RegionEntry& entry(std::string_view lock, std::string_view site) {
        const std::scoped_lock guard(regions->mutex);
        for (RegionEntry& known : regions->entries) {
            if (known.lock == lock && known.site == site) return known;
        }
        RegionEntry& fresh = regions->entries.emplace_back();
        fresh.lock = lock;
        fresh.site = site;
        return fresh;
    }

    OpenRegion& open() {
        if (unused.empty()) {
            places.emplace_back();
            return places.back();
        }
        OpenRegion& place = *unused.back();
        unused.pop_back();
        return place;
    }

    std::deque<OpenRegion> places;  // as many as have ever been open at a time
    std::vector<OpenRegion*> unused;
};

ThisThreadsRegions& this_threads_regions() {
    thread_local ThisThreadsRegions regions;
    return regions;
}

/// The sum over threads, as it grows.
struct Sum {
    Measurement row;
    std::uint64_t duration_ns = 0;
    std::vector<AbortLog> logs;
    std::vector<Samples> samples;
    const Counting* counted_by = nullptr;
};

void take(Sum& sum, const RegionEntry& entry) {
    sum.row.scenario = "region";
    sum.row.phase = entry.site;
    sum.row.machine = NativeMachine::name;
    sum.row.lock = entry.lock;
    sum.row.worker_operations.push_back(entry.entries);
    sum.duration_ns += entry.duration_ns;
    sum.logs.push_back(entry.log);
    if (entry.counted_by != nullptr) {
        sum.samples.push_back(entry.samples);
        sum.counted_by = entry.counted_by;
    }
}

Readings readings_of(const Sum& sum) {
    Readings readings;
    for (std::size_t i = 0; i < counter_count; ++i) {
        if (sum.counted_by == nullptr) {
            readings[i] = Reading::missing("regions were not counted (count_regions)");
            continue;
        }
        const CounterPlan& plan = sum.counted_by->plan;
        const auto pass = plan.pass_of(counter_at(i));
        if (!pass || *pass != 0) {
            readings[i] = Reading::missing(pass ? "does not fit beside the other counters"
                                                : plan.absent_reasons[i]);
            continue;
        }
        std::vector<Reading> threads;
        for (const Samples& samples : sum.samples) {
            threads.push_back(reading_of(samples[i], sum.counted_by->host));
        }
        readings[i] = sum_of(threads);
    }
    return readings;
}

Measurement finished(Sum sum) {
    Measurement row = std::move(sum.row);
    row.threads = static_cast<unsigned>(row.worker_operations.size());
    row.cpus = static_cast<unsigned>(native::allowed_cpus().size());
    row.duration_ns = sum.duration_ns / row.threads;
    row.time_source = Provenance::hw;
    row.log.emplace();
    for (const AbortLog& log : sum.logs) add(*row.log, log);
    row.cause_source = Provenance::software;
    row.counters = readings_of(sum);
    return row;
}

}  // namespace

Region::Region(std::string_view lock, std::string_view site) {
    if (NativeMachine::in_transaction()) return;
    ThisThreadsRegions& self = this_threads_regions();
    open_ = &self.open();
    open_->entry = &self.entry(lock, site);
    open_->log = NativeMachine::log();
    open_->counted_by = self.counters.wanted();
    if (open_->counted_by != nullptr) open_->samples = self.counters.read();
    open_->start_ns = NativeMachine::now_ns();
}

Region::~Region() {
    if (open_ == nullptr) return;
    const std::uint64_t end_ns = NativeMachine::now_ns();
    ThisThreadsRegions& self = this_threads_regions();
    // Counted from its beginning to its end by the same counters, or not at all.
    const Counting* counted_by =
        open_->counted_by == self.counters.wanted() ? open_->counted_by : nullptr;
    if (counted_by != nullptr) self.counters.read();

    RegionEntry& entry = *open_->entry;
    const std::scoped_lock guard(self.regions->mutex);
    ++entry.entries;
    entry.duration_ns += end_ns - open_->start_ns;
    add_difference(entry.log, NativeMachine::log(), open_->log);
    if (counted_by != nullptr) {
        if (entry.counted_by != counted_by) entry.samples = {};
        entry.counted_by = counted_by;
        for (std::size_t i = 0; i < counter_count; ++i) {
            add(entry.samples[i], difference(self.counters.totals()[i], open_->samples[i]));
        }
    }
    self.unused.push_back(open_);
}

void Region::attempt() {
    ++NativeMachine::log().attempts;
}
void Region::aborted(rtm::Status status) {
    NativeMachine::log().record_abort(status);
}
void Region::committed() {
    NativeMachine::log().record_commit();
}
void Region::fell_back() {
    NativeMachine::log().record_fallback();
}

std::vector<Measurement> region_rows() {
    std::vector<Sum> sums;
    const std::scoped_lock all(registry().mutex);
    for (const auto& thread : registry().threads) {
        const std::scoped_lock guard(thread->mutex);
        for (const RegionEntry& entry : thread->entries) {
            if (entry.entries == 0) continue;
            auto known = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) {
                return sum.row.lock == entry.lock && sum.row.phase == entry.site;
            });
            if (known == sums.end()) known = sums.emplace(sums.end());
            take(*known, entry);
        }
    }
    std::vector<Measurement> rows;
    for (Sum& sum : sums) rows.push_back(finished(std::move(sum)));
    return rows;
}

void reset_regions() {
    const std::scoped_lock all(registry().mutex);
    for (const auto& thread : registry().threads) {
        const std::scoped_lock guard(thread->mutex);
        for (RegionEntry& entry : thread->entries) {
            RegionEntry fresh;
            fresh.lock = std::move(entry.lock);
            fresh.site = std::move(entry.site);
            entry = std::move(fresh);
        }
    }
}

std::string count_regions(std::span<const Counter> asked) {
    auto* wanted = new Counting{describe_host(), tested_plan(asked)};
    counting.store(wanted, std::memory_order_release);
    return wanted->plan.describe();
}

void stop_counting_regions() {
    counting.store(nullptr, std::memory_order_release);
}

}  // namespace abortscope
