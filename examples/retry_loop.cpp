// SPDX-License-Identifier: Apache-2.0
//
// A program with an RTM loop of its own: the instructions, the status word and its causes, and a
// region that is told what happened.
#include <abortscope.hpp>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using Machine = abortscope::native::NativeMachine;
using abortscope::rtm::Status;

std::atomic<bool> busy{false};
std::uint64_t counter = 0;

void increment() {
    abortscope::Region region("busy flag", "increment");
    // No RTM instruction before CPUID and a probe have said that it works.
    for (int attempts = 0; Machine::rtm_available() && attempts < 5; ++attempts) {
        region.attempt();
        const Status status = Machine::begin();
        if (status.is_started()) {
            // The flag is in the read set now: whoever takes it aborts this transaction.
            if (busy.load(std::memory_order_relaxed)) {
                Machine::abort<abortscope::rtm::code::lock_busy>();
            }
            ++counter;
            Machine::commit();
            region.committed();
            return;
        }
        region.aborted(status);
        if (!status.has(abortscope::rtm::StatusBit::retry) &&
            abortscope::rtm::cause_of(status) != abortscope::rtm::Cause::lock_busy) {
            break;
        }
        while (busy.load(std::memory_order_relaxed)) Machine::pause();
    }
    while (busy.exchange(true)) Machine::yield();
    ++counter;
    busy.store(false);
    region.fell_back();
}

}  // namespace

int main() {
    std::printf("RTM %s here\n", Machine::rtm_available() ? "works" : "does not work");
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 2; ++worker) {
        workers.emplace_back([] {
            for (int i = 0; i < 10'000; ++i) increment();
        });
    }
    for (std::thread& worker : workers) worker.join();

    for (const abortscope::Measurement& row : abortscope::region_rows()) {
        for (std::size_t i = 0; i < abortscope::rtm::cause_count; ++i) {
            std::printf("%-10s %llu\n", abortscope::rtm::cause_names[i].data(),
                        static_cast<unsigned long long>(row.log->causes[i]));
        }
        std::printf("%llu committed, %llu under the flag\n",
                    static_cast<unsigned long long>(row.log->commits),
                    static_cast<unsigned long long>(row.log->fallbacks));
    }
    return counter == 20'000 ? 0 : 1;
}
