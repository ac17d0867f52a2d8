// SPDX-License-Identifier: Apache-2.0
//
// Where do the aborts come from? Regions name the lock and the place; the CSV has a row for each,
// in the columns of `abortscope run --csv`.
#include <abortscope.hpp>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Registry {
  public:
    void insert(std::uint32_t key) {
        const abortscope::Region region("registry", "insert");  // before the guard
        const std::lock_guard guard(mutex_);
        ++entries_[key];
    }
    bool lookup(std::uint32_t key) {
        const abortscope::Region region("registry", "lookup");
        const std::lock_guard guard(mutex_);
        return entries_.count(key) != 0;
    }

  private:
    abortscope::elided_mutex mutex_;
    std::map<std::uint32_t, std::uint32_t> entries_;
};

}  // namespace

int main(int argc, char** argv) {
    // The kernel's own counters open almost everywhere; the processor's where it has them.
    using abortscope::Counter;
    const std::vector<Counter> wanted{Counter::tx_start, Counter::tx_abort, Counter::task_clock_ns,
                                      Counter::page_faults};
    std::fprintf(stderr, "%s\n", abortscope::count_regions(wanted).c_str());

    Registry registry;
    std::vector<std::thread> workers;
    for (std::uint32_t worker = 0; worker < 4; ++worker) {
        workers.emplace_back([&registry, worker] {
            for (std::uint32_t i = 0; i < 2'000; ++i) {
                if (i % 10 == 0) registry.insert(worker + 4 * i);
                registry.lookup(i);
            }
        });
    }
    for (std::thread& worker : workers) worker.join();

    for (const abortscope::Measurement& row : abortscope::region_rows()) {
        std::printf("%s/%s: %llu entries by %u threads, %llu elided, %llu real\n", row.lock.c_str(),
                    row.phase.c_str(), static_cast<unsigned long long>(row.operations()),
                    row.threads, static_cast<unsigned long long>(row.log->elided),
                    static_cast<unsigned long long>(row.log->fallbacks));
    }
    abortscope::write_region_csv(argc > 1 ? argv[1] : "-");
    return abortscope::region_rows().size() == 2 ? 0 : 1;
}
