// SPDX-License-Identifier: Apache-2.0
//
// In debug builds the host's operator new and delete trap inside a simulated transaction: what they
// do is not rolled back, so a std::vector that grows there would be freed twice. The program ends
// with one line on stderr and SIGABRT.
//
// The engine's own bookkeeping may allocate at any time; it says so with a HostHeapAllowed.
#pragma once

namespace abortscope::model {

#if defined(NDEBUG)
class HostHeapAllowed {
  public:
    HostHeapAllowed() {}
};
#else
class HostHeapAllowed {
  public:
    HostHeapAllowed();
    ~HostHeapAllowed();
    HostHeapAllowed(const HostHeapAllowed&) = delete;
    HostHeapAllowed& operator=(const HostHeapAllowed&) = delete;
};
#endif

}  // namespace abortscope::model
