// SPDX-License-Identifier: Apache-2.0
#include "machines/native/affinity.hpp"

#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

namespace abortscope::native {
namespace {

/// A CPU mask for CPUs 0..count-1, all clear.
class CpuMask {
  public:
    explicit CpuMask(unsigned count) : count_(count), bytes_(CPU_ALLOC_SIZE(count)) {
        set_.reset(CPU_ALLOC(count));
        if (set_ == nullptr) throw std::bad_alloc();
        CPU_ZERO_S(bytes_, set_.get());
    }
    unsigned count() const { return count_; }
    std::size_t bytes() const { return bytes_; }
    cpu_set_t* get() const { return set_.get(); }
    void set(unsigned cpu) { CPU_SET_S(cpu, bytes_, set_.get()); }
    bool has(unsigned cpu) const { return CPU_ISSET_S(cpu, bytes_, set_.get()); }

  private:
    struct Free {
        void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };
    unsigned count_;
    std::size_t bytes_;
    std::unique_ptr<cpu_set_t, Free> set_;
};

constexpr unsigned first_mask_cpus = 1024;
constexpr unsigned largest_mask_cpus = 1u << 20;

}  // namespace

std::vector<unsigned> allowed_cpus() {
    // EINVAL means only that the kernel's own mask is longer than ours.
    for (unsigned count = first_mask_cpus; count <= largest_mask_cpus; count *= 2) {
        const CpuMask mask(count);
        if (sched_getaffinity(0, mask.bytes(), mask.get()) == 0) {
            std::vector<unsigned> cpus;
            for (unsigned cpu = 0; cpu < mask.count(); ++cpu) {
                if (mask.has(cpu)) cpus.push_back(cpu);
            }
            return cpus;
        }
        if (errno != EINVAL) break;
    }
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
}

void pin_thread(pthread_t thread, unsigned cpu) {
    int error = EINVAL;
    if (cpu < largest_mask_cpus) {
        CpuMask mask(cpu < first_mask_cpus ? first_mask_cpus : cpu + 1);
        mask.set(cpu);
        error = pthread_setaffinity_np(thread, mask.bytes(), mask.get());
    }
    if (error != 0) {
        throw std::system_error(error, std::generic_category(),
                                "cannot pin a worker to CPU " + std::to_string(cpu));
    }
}

}  // namespace abortscope::native
