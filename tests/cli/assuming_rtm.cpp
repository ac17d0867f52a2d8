// SPDX-License-Identifier: Apache-2.0
//
// The program with a different answer to "does CPUID advertise RTM?", for emulators that execute
// XBEGIN though their CPUID denies it. For tests alone.
//
//     assuming_rtm advertised COMMAND…   CPUID advertises RTM; the probe finds out the rest
//     assuming_rtm commits COMMAND…      locks elide, whatever the probe has found
//
// qemu-user 7.2 executes XBEGIN and XABORT but not XTEST, which is answered here: nothing commits
// there, so no code is ever inside a transaction.
#include <ucontext.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "cli/command.hpp"
#include "machines/native/rtm_pretence.hpp"

namespace {

void answer_xtest(int, siginfo_t*, void* context) {
#if defined(__x86_64__)
    constexpr unsigned char xtest[] = {0x0f, 0x01, 0xd6};
    constexpr greg_t zero_flag = 1 << 6;
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    if (std::memcmp(reinterpret_cast<const void*>(registers[REG_RIP]), xtest, sizeof(xtest)) == 0) {
        registers[REG_EFL] |= zero_flag;
        registers[REG_RIP] += sizeof(xtest);
        return;
    }
#endif
    std::signal(SIGILL, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace abortscope;
    const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
    if (words.size() < 3) {
        std::fputs("usage: assuming_rtm advertised|commits COMMAND…\n", stderr);
        return cli::exit_code::usage;
    }
    std::signal(SIGPIPE, SIG_IGN);
    native::pretend_rtm_cpuid(native::RtmCpuid{.advertised = true, .always_abort = false});
    if (std::string_view(words[1]) == "commits") {
        native::pretend_rtm_commits(true);
        struct sigaction action {};
        action.sa_sigaction = answer_xtest;
        action.sa_flags = SA_SIGINFO;
        sigemptyset(&action.sa_mask);
        sigaction(SIGILL, &action, nullptr);
    }
    return cli::run_command_line(words.subspan(2));
}
