// SPDX-License-Identifier: Apache-2.0
//
// What an errno of perf_event_open(2) means on this host, and what a person can do about it.
//
// The table holds every errno of the manual page; EACCES and EPERM, and the ENOENT of a virtual
// machine, are explained by the host's own state (acceptance cases A9, A10, A15).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/host/host_description.hpp"

namespace abortscope {

struct OpenError {
    int number;               ///< EACCES
    std::string_view symbol;  ///< "EACCES"
    std::string_view meaning;
    std::string_view remedy;
};

/// Every errno that the manual page lists, and ENOMEM and ENFILE.
std::span<const OpenError> open_errors();

/// The errno's name: "EACCES"; for one that is not in the table its number: "errno 99".
std::string errno_symbol(int number);

/// One line, without a full stop: "EACCES: not permitted (perf_event_paranoid is 3, …); run …".
std::string explain_open_error(int number, const HostDescription& host);

}  // namespace abortscope
