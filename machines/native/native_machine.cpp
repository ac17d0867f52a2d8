// SPDX-License-Identifier: Apache-2.0
#include "machines/native/native_machine.hpp"

#include <fcntl.h>

namespace abortscope::native {

void NativeMachine::system_call(SystemCall kind) {
    constexpr std::size_t page = 4096;
    switch (kind) {
        case SystemCall::null:
            (void)syscall(SYS_getppid);
            return;
        case SystemCall::map: {
            void* place =
                mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (place != MAP_FAILED) munmap(place, page);
            return;
        }
        case SystemCall::io: {
            static const int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
            (void)!write(sink, "x", 1);
            return;
        }
    }
}

}  // namespace abortscope::native
