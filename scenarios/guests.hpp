// SPDX-License-Identifier: Apache-2.0
//
// Several copies of a workload side by side, as the guests of one host are: each with its own part
// of the workers, its own locks and its own data, all on the same CPUs.
//
//   threads 48, guests 3  ->  workers 0-15 | 16-31 | 32-47, each a guest's virtual CPUs
//
// operations are the sum over the guests; a guest's mean score is a guests-th of it. A guest's
// worker keeps its number of the whole trial, so each copy is built for all workers and leaves the
// others' places unused.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/errors.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

inline constexpr ParameterSpec guests_parameter{
    .name = "guests",
    .option = "",
    .help = "guests of one host that the workers are split into",
    .default_value = 1,
    .minimum = 1,
    .maximum = 64,
};

class Guests final : public Scenario {
  public:
    /// `make` builds one copy. Throws UsageError where the workers cannot be split.
    template <class Make>
    Guests(const TrialSpec& spec, Make make) {
        const auto guests = static_cast<unsigned>(spec.value(guests_parameter.name));
        if (spec.threads % guests != 0) {
            throw UsageError(std::string(spec.scenario->name) + ": " +
                             std::to_string(spec.threads) + " threads are no multiple of " +
                             std::to_string(guests) + " guests");
        }
        workers_each_ = spec.threads / guests;
        for (unsigned guest = 0; guest < guests; ++guest) guests_.push_back(make());
    }

    std::uint64_t run(std::size_t phase, unsigned worker) override {
        return guests_[worker / workers_each_]->run(phase, worker);
    }
    void check(std::size_t phase) override {
        for (const std::unique_ptr<Scenario>& guest : guests_) guest->check(phase);
    }

  private:
    std::vector<std::unique_ptr<Scenario>> guests_;
    unsigned workers_each_ = 1;
};

}  // namespace abortscope
