// SPDX-License-Identifier: Apache-2.0
//
// What can go wrong, by what the user can do about it. cli/exit_code.hpp maps each to its exit
// code; what() is the one line that the user reads.
#pragma once

#include <stdexcept>

namespace abortscope {

/// The command line asks for something that does not exist or does not fit together: exit 2.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// This computer cannot measure what was demanded: exit 3.
class CannotMeasure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A file or a stream could not be opened, read or written: exit 1.
class IoError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace abortscope
