// SPDX-License-Identifier: Apache-2.0
//
// Which CPUs this process may use, and pinning a thread to one of them.
//
// CPU numbers are the kernel's, of any size: hosts with more than 1,024 CPUs work, since the mask
// grows until sched_getaffinity(2) accepts it.
#pragma once

#include <pthread.h>

#include <vector>

namespace abortscope::native {

/// The CPUs that the calling thread may run on, ascending: what cgroups, taskset and the boot line
/// have left. Throws std::system_error if the kernel does not tell.
std::vector<unsigned> allowed_cpus();

/// Binds `thread` to one CPU. Throws std::system_error (EINVAL for a CPU that does not exist or is
/// not allowed), with the CPU's number in its text.
void pin_thread(pthread_t thread, unsigned cpu);

}  // namespace abortscope::native
