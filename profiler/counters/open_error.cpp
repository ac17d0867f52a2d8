// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/open_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace abortscope {
namespace {

constexpr std::string_view our_bug = "this is a bug of abortscope: please report it";

constexpr std::array<OpenError, 18> table{{
    {E2BIG, "E2BIG", "the kernel is older than this program's idea of perf_event_attr",
     "use a kernel of this distribution or later"},
    {EACCES, "EACCES", "not permitted", ""},
    {EBADF, "EBADF", "the leader of the counter group is gone", our_bug},
    {EBUSY, "EBUSY", "another event has the counters for itself",
     "end the other profiler (perf, VTune, likwid, PCM) and run again"},
    {EFAULT, "EFAULT", "the kernel cannot read the request", our_bug},
    {EINTR, "EINTR", "interrupted: perf and ftrace were mixed on one probe",
     "stop tracing and run again"},
    {EINVAL, "EINVAL", "the kernel rejects the event, or it does not fit beside the others",
     "compare its encoding in `abortscope events`; turn the NMI watchdog off if it is on"},
    {EMFILE, "EMFILE", "too many open files: a counter takes one for each thread",
     "raise `ulimit -n`, or ask for fewer counters or threads"},
    {ENFILE, "ENFILE", "the system has too many open files", "raise fs.file-max"},
    {ENODEV, "ENODEV", "this CPU lacks a feature that the event needs",
     "ask for the counters that `abortscope events` shows as opening"},
    {ENOENT, "ENOENT", "the kernel has no PMU for this event", ""},
    {ENOMEM, "ENOMEM", "the kernel has no memory for the event", "free memory and run again"},
    {ENOSPC, "ENOSPC", "no counter is free", "end other profilers and run again"},
    {ENOSYS, "ENOSYS", "this kernel has no perf_event_open, or a seccomp filter hides it",
     "use a kernel with CONFIG_PERF_EVENTS, or a filter that allows perf_event_open"},
    {EOPNOTSUPP, "EOPNOTSUPP", "the PMU does not support what the event asks for",
     "ask for the counters that `abortscope events` shows as opening"},
    {EOVERFLOW, "EOVERFLOW", "call chains beyond kernel.perf_event_max_stack were asked for",
     our_bug},
    {EPERM, "EPERM", "not permitted", ""},
    {ESRCH, "ESRCH", "the thread or process has already ended", "run again"},
}};

const OpenError* find(int number) {
    const auto* found = std::find_if(table.begin(), table.end(),
                                     [&](const OpenError& row) { return row.number == number; });
    return found == table.end() ? nullptr : found;
}

std::string permission_state(const HostDescription& host) {
    const auto& process = host.process;
    std::string state =
        host.kernel.perf_event_paranoid
            ? fmt::format("perf_event_paranoid is {}", *host.kernel.perf_event_paranoid)
            : "perf_event_paranoid is not readable";
    state += process.cap_perfmon || process.cap_sys_admin ? ", CAP_PERFMON is there"
                                                          : ", CAP_PERFMON is missing";
    if (process.seccomp.value_or(0) == 2) state += ", a seccomp filter is active";
    if (process.container) state += ", in a container";
    return state;
}

std::string permission_remedy(const HostDescription& host) {
    const auto& process = host.process;
    const bool privileged = process.cap_perfmon || process.cap_sys_admin;
    const bool filtered = process.seccomp.value_or(0) == 2;
    if (process.container && !filtered && !privileged) {
        return "on the container's host: sysctl kernel.perf_event_paranoid=1, or start the "
               "container with --cap-add PERFMON";
    }
    if (filtered) {
        return privileged ? "start the container with a seccomp profile that allows "
                            "perf_event_open (--security-opt seccomp=…)"
                          : "start the container with --cap-add PERFMON, or, on kernels before "
                            "5.8, --cap-add SYS_ADMIN";
    }
    if (!privileged) {
        return "run as root: sysctl kernel.perf_event_paranoid=1, or setcap cap_perfmon+ep on "
               "this program";
    }
    return "a security module (SELinux, lockdown) forbids it: look in the kernel log";
}

std::string missing_pmu_remedy(const HostDescription& host) {
    if (host.cpu.hypervisor) {
        return "this virtual machine has no such virtual PMU: ask for one (QEMU: -cpu "
               "host,pmu=on), or measure on the host";
    }
    return "boot a kernel that knows this CPU's PMU (dmesg | grep -i 'performance events')";
}

}  // namespace

std::span<const OpenError> open_errors() {
    return table;
}

std::string errno_symbol(int number) {
    const OpenError* row = find(number);
    return row != nullptr ? std::string(row->symbol) : fmt::format("errno {}", number);
}

std::string explain_open_error(int number, const HostDescription& host) {
    const OpenError* row = find(number);
    if (row == nullptr) {
        return fmt::format("errno {}: {}; perf_event_open(2) does not list it", number,
                           std::strerror(number));
    }
    if (number == EACCES || number == EPERM) {
        return fmt::format("{}: {} ({}); {}", row->symbol, row->meaning, permission_state(host),
                           permission_remedy(host));
    }
    const std::string remedy =
        number == ENOENT ? missing_pmu_remedy(host) : std::string(row->remedy);
    return fmt::format("{}: {}; {}", row->symbol, row->meaning, remedy);
}

}  // namespace abortscope
