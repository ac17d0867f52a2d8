// SPDX-License-Identifier: Apache-2.0
//
// The seam to perf_event_open(2): four calls, nothing else of this project talks to the kernel's
// counters. Tests put an implementation of their own here and inject every errno, short reads and
// counters that never run.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>

namespace abortscope {

class PerfSystem {
  public:
    virtual ~PerfSystem() = default;
    /// A file descriptor (close-on-exec), or -errno.
    virtual int open(const perf_event_attr& attributes, pid_t process, int cpu,
                     int group) noexcept = 0;
    /// ioctl(2): 0, or -errno.
    virtual int control(int descriptor, unsigned long request, unsigned long argument) noexcept = 0;
    /// The number of bytes, or -errno.
    virtual ssize_t read(int descriptor, void* to, std::size_t size) noexcept = 0;
    virtual void close(int descriptor) noexcept = 0;
};

/// The kernel. Stateless and thread-safe.
PerfSystem& kernel_perf();

}  // namespace abortscope
