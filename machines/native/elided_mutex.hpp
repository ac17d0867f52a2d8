// SPDX-License-Identifier: Apache-2.0
//
// The elided mutex of this computer, for a program of one's own:
//
//     abortscope::elided_mutex mutex;
//     {
//         std::lock_guard guard(mutex);
//         ++counter;
//     }
//     const auto& log = abortscope::elided_mutex::this_thread_log();
//     // log.elided, log.fallbacks, log.causes[...]; mutex.elision_active() says why elided is 0
//
// primitives/elided_mutex.hpp says how it differs from std::mutex.
#pragma once

#include "machines/native/native_machine.hpp"
#include "primitives/elided_mutex.hpp"

namespace abortscope {

using elided_mutex = BasicElidedMutex<native::NativeMachine>;

}  // namespace abortscope
