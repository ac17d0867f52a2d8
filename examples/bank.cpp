// SPDX-License-Identifier: Apache-2.0
//
// A mutex that RTM elides, in the place of a std::mutex: transfers between accounts that rarely
// meet run side by side where the computer has RTM, and one after the other where it has not.
#include <abortscope.hpp>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace {

/// A cache line each: two transfers conflict only if they share an account.
struct alignas(64) Account {
    std::int64_t balance = 1'000;
};

constexpr unsigned threads = 4;
constexpr unsigned transfers = 50'000;

}  // namespace

int main() {
    abortscope::elided_mutex mutex;
    std::array<Account, 256> accounts;
    std::atomic<std::uint64_t> elided{0};
    std::atomic<std::uint64_t> fallbacks{0};
    std::atomic<std::uint64_t> aborts{0};

    std::vector<std::thread> workers;
    for (unsigned worker = 0; worker < threads; ++worker) {
        workers.emplace_back([&, worker] {
            std::uint32_t random = worker * 2'654'435'761u + 1;
            const auto pick = [&]() -> Account& {
                random = random * 1'664'525u + 1'013'904'223u;
                return accounts[random >> 24];
            };
            for (unsigned i = 0; i < transfers; ++i) {
                Account& from = pick();
                Account& to = pick();
                const std::lock_guard guard(mutex);
                from.balance -= 1;
                to.balance += 1;
            }
            const abortscope::AbortLog& log = abortscope::elided_mutex::this_thread_log();
            elided += log.elided;
            fallbacks += log.fallbacks;
            aborts += log.aborts();
        });
    }
    for (std::thread& worker : workers) worker.join();

    const std::int64_t total =
        std::accumulate(accounts.begin(), accounts.end(), std::int64_t{0},
                        [](std::int64_t sum, const Account& one) { return sum + one.balance; });
    std::printf("elision active: %s\n", mutex.elision_active() ? "yes" : "no, a plain lock");
    std::printf("%llu elided, %llu real, %llu aborts; %lld in all accounts\n",
                static_cast<unsigned long long>(elided), static_cast<unsigned long long>(fallbacks),
                static_cast<unsigned long long>(aborts), static_cast<long long>(total));
    const bool complete = elided + fallbacks == std::uint64_t{threads} * transfers;
    return complete && total == 256'000 ? 0 : 1;
}
