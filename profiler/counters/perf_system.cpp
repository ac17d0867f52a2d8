// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/perf_system.hpp"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace abortscope {
namespace {

class KernelPerf final : public PerfSystem {
  public:
    int open(const perf_event_attr& attributes, pid_t process, int cpu,
             int group) noexcept override {
        const long descriptor =
            syscall(SYS_perf_event_open, &attributes, process, cpu, group, PERF_FLAG_FD_CLOEXEC);
        return descriptor < 0 ? -errno : static_cast<int>(descriptor);
    }
    int control(int descriptor, unsigned long request, unsigned long argument) noexcept override {
        return ioctl(descriptor, request, argument) < 0 ? -errno : 0;
    }
    ssize_t read(int descriptor, void* to, std::size_t size) noexcept override {
        for (;;) {
            const ssize_t bytes = ::read(descriptor, to, size);
            if (bytes >= 0) return bytes;
            if (errno != EINTR) return -errno;
        }
    }
    void close(int descriptor) noexcept override { ::close(descriptor); }
};

}  // namespace

PerfSystem& kernel_perf() {
    static KernelPerf perf;
    return perf;
}

}  // namespace abortscope
