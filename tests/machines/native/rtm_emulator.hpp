// SPDX-License-Identifier: Apache-2.0
//
// RTM instructions on a CPU without RTM: a SIGILL handler that emulates XBEGIN, XEND, XTEST and
// XABORT for the thread that made it, so that the real native code runs start, commit, abort and
// nesting as on hardware.
//
//     RtmEmulator emulator({abort_at_begin(0x6), commit()});   // the first attempt, the second, …
//
// How: the handler runs on a stack of its own. At the outermost XBEGIN it saves the registers and
// copies the live stack; an abort puts both back and continues at the fallback address with the
// status in EAX, so that functions that have returned since are back, as on hardware. Stores to
// anything but the stack are *not* rolled back: scripts abort before shared stores.
//
// Semantics: Intel SDM vol. 1 ch. 16 and the instructions' pages in vol. 2.
#pragma once

#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "machines/native/rtm_pretence.hpp"
#include "primitives/rtm_status.hpp"

namespace abortscope::native {

/// What becomes of one outermost attempt.
struct Attempt {
    enum class Fate : std::uint8_t { commit, abort_at_begin, abort_at_end };
    Fate fate = Fate::commit;
    std::uint32_t status = 0;
};

inline Attempt commit() {
    return {};
}
/// The transaction has hardly started when it aborts.
inline Attempt abort_at_begin(std::uint32_t status) {
    return {Attempt::Fate::abort_at_begin, status};
}
/// It aborts when the outermost XEND would have committed it.
inline Attempt abort_at_end(std::uint32_t status) {
    return {Attempt::Fate::abort_at_end, status};
}

/// MAX_RTM_NEST_COUNT of every CPU so far.
inline constexpr unsigned max_rtm_nesting = 7;

namespace detail {

/// The emulated processor's state. On the heap: what lies on the stack is rolled back.
class EmulatedRtm {
  public:
    explicit EmulatedRtm(std::vector<Attempt> script) : script_(std::move(script)) {
        alternate_stack_.resize(alternate_stack_bytes);
        stack_t stack{};
        stack.ss_sp = alternate_stack_.data();
        stack.ss_size = alternate_stack_.size();
        sigaltstack(&stack, &previous_stack_);
        stack_copy_.resize(most_stack_bytes);
        stack_top_ = top_of_this_stack();
        current() = this;

        struct sigaction action {};
        action.sa_sigaction = on_illegal_instruction;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(SIGILL, &action, &previous_action_);
        pretend_rtm_commits(true);
    }
    ~EmulatedRtm() {
        pretend_rtm_commits(std::nullopt);
        sigaction(SIGILL, &previous_action_, nullptr);
        sigaltstack(&previous_stack_, nullptr);
        current() = nullptr;
    }
    EmulatedRtm(const EmulatedRtm&) = delete;
    EmulatedRtm& operator=(const EmulatedRtm&) = delete;

    unsigned begins = 0;
    unsigned commits = 0;
    unsigned aborts = 0;
    unsigned nested_begins = 0;
    unsigned deepest = 0;

    unsigned depth() const { return depth_; }

  private:
    static constexpr std::size_t alternate_stack_bytes = 256 * 1024;
    static constexpr std::size_t most_stack_bytes = 256 * 1024;
    static constexpr std::size_t red_zone_bytes = 128;

    // Lengths and bytes: SDM vol. 2.
    static constexpr std::array<std::uint8_t, 2> xbegin_code{0xc7, 0xf8};
    static constexpr std::array<std::uint8_t, 2> xabort_code{0xc6, 0xf8};
    static constexpr std::array<std::uint8_t, 3> xend_code{0x0f, 0x01, 0xd5};
    static constexpr std::array<std::uint8_t, 3> xtest_code{0x0f, 0x01, 0xd6};
    static constexpr greg_t xbegin_length = 6;
    static constexpr greg_t short_length = 3;

    static EmulatedRtm*& current() {
        thread_local EmulatedRtm* emulator = nullptr;
        return emulator;
    }

    static std::uintptr_t top_of_this_stack() {
        pthread_attr_t attributes;
        void* lowest = nullptr;
        std::size_t size = 0;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
        return reinterpret_cast<std::uintptr_t>(lowest) + size;
    }

    /// Byte by byte and out of AddressSanitizer's sight: the copy crosses the red zones of frames.
    __attribute__((no_sanitize("address"))) static void copy(void* to, const void* from,
                                                             std::size_t size) {
        auto* out = static_cast<volatile std::uint8_t*>(to);
        const auto* in = static_cast<const volatile std::uint8_t*>(from);
        for (std::size_t i = 0; i < size; ++i) out[i] = in[i];
    }

    static void on_illegal_instruction(int, siginfo_t*, void* context) {
        auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
        EmulatedRtm* self = current();
        if (self == nullptr || !self->emulate(registers)) {
            // Not ours: the instruction runs again, into the default action.
            std::signal(SIGILL, SIG_DFL);
        }
    }

    template <std::size_t N>
    static bool is(const std::array<std::uint8_t, N>& code, const std::uint8_t* at) {
        return std::memcmp(code.data(), at, N) == 0;
    }

    bool emulate(mcontext_t& registers) {
        greg_t& rip = registers.gregs[REG_RIP];
        const auto* at = reinterpret_cast<const std::uint8_t*>(rip);
        if (is(xbegin_code, at)) {
            begin(registers);
        } else if (is(xend_code, at)) {
            end(registers);
        } else if (is(xtest_code, at)) {
            set_zero_flag(registers, depth_ == 0);
            rip += short_length;
        } else if (is(xabort_code, at)) {
            const std::uint32_t status = rtm::Status::explicit_abort(at[2]).word();
            if (depth_ == 0) {
                rip += short_length;  // a NOP outside
            } else {
                abort(registers, status);
            }
        } else {
            return false;
        }
        return true;
    }

    Attempt next_attempt() {
        if (script_.empty()) return commit();
        const Attempt attempt = script_[std::min<std::size_t>(begins, script_.size() - 1)];
        return attempt;
    }

    void begin(mcontext_t& registers) {
        greg_t& rip = registers.gregs[REG_RIP];
        if (depth_ == max_rtm_nesting) {
            abort(registers, 0);
            return;
        }
        if (depth_ == 0) {
            attempt_ = next_attempt();
            ++begins;
            save(registers);
        } else {
            ++nested_begins;
        }
        ++depth_;
        deepest = std::max(deepest, depth_);
        rip += xbegin_length;
        if (depth_ == 1 && attempt_.fate == Attempt::Fate::abort_at_begin) {
            abort(registers, attempt_.status);
        }
    }

    void end(mcontext_t& registers) {
        if (depth_ == 0) {
            // #GP: the kernel sends SIGSEGV.
            std::signal(SIGSEGV, SIG_DFL);
            raise(SIGSEGV);
            return;
        }
        if (depth_ == 1 && attempt_.fate == Attempt::Fate::abort_at_end) {
            abort(registers, attempt_.status);
            return;
        }
        if (--depth_ == 0) ++commits;
        registers.gregs[REG_RIP] += short_length;
    }

    void abort(mcontext_t& registers, std::uint32_t status) {
        constexpr auto nested = static_cast<std::uint32_t>(rtm::StatusBit::nested);
        if (depth_ > 1) status |= nested;
        depth_ = 0;
        ++aborts;
        restore(registers);
        registers.gregs[REG_RAX] = static_cast<greg_t>(status);
        registers.gregs[REG_RIP] = fallback_;
    }

    static void set_zero_flag(mcontext_t& registers, bool zero) {
        constexpr greg_t zero_flag = 1 << 6;
        constexpr greg_t cleared = zero_flag | 1 << 0 | 1 << 2 | 1 << 4 | 1 << 7 | 1 << 11;
        greg_t& flags = registers.gregs[REG_EFL];
        flags = (flags & ~cleared) | (zero ? zero_flag : 0);
    }

    /// Of the FPU, SSE and AVX state in the signal frame: the kernel says how long it is.
    static std::size_t fpu_bytes(const mcontext_t& registers) {
        constexpr std::uint32_t extended_magic = 0x46505853;  // asm/sigcontext.h, FP_XSTATE_MAGIC1
        constexpr std::size_t legacy = 512;
        constexpr std::size_t software_bytes_at = 464;
        std::array<std::uint32_t, 2> magic_and_size{};
        std::memcpy(magic_and_size.data(),
                    reinterpret_cast<const std::uint8_t*>(registers.fpregs) + software_bytes_at,
                    sizeof(magic_and_size));
        const bool extended = magic_and_size[0] == extended_magic;
        return extended ? std::min<std::size_t>(magic_and_size[1], most_fpu_bytes) : legacy;
    }

    void save(const mcontext_t& registers) {
        std::int32_t distance = 0;
        const greg_t rip = registers.gregs[REG_RIP];
        std::memcpy(&distance, reinterpret_cast<const void*>(rip + 2), sizeof(distance));
        fallback_ = rip + xbegin_length + distance;
        copy(saved_.data(), registers.gregs, sizeof(registers.gregs));
        copy(saved_fpu_.data(), registers.fpregs, fpu_bytes(registers));
        stack_from_ = static_cast<std::uintptr_t>(registers.gregs[REG_RSP]) - red_zone_bytes;
        stack_bytes_ = stack_top_ - stack_from_;
        if (stack_bytes_ > stack_copy_.size()) std::abort();
        copy(stack_copy_.data(), reinterpret_cast<const void*>(stack_from_), stack_bytes_);
    }

    void restore(mcontext_t& registers) const {
        copy(reinterpret_cast<void*>(stack_from_), stack_copy_.data(), stack_bytes_);
        copy(registers.gregs, saved_.data(), sizeof(registers.gregs));
        copy(registers.fpregs, saved_fpu_.data(), fpu_bytes(registers));
    }

    static constexpr std::size_t most_fpu_bytes = 16 * 1024;

    std::vector<Attempt> script_;
    Attempt attempt_;
    unsigned depth_ = 0;
    greg_t fallback_ = 0;
    std::array<greg_t, NGREG> saved_{};
    std::array<std::uint8_t, most_fpu_bytes> saved_fpu_{};
    std::vector<std::uint8_t> stack_copy_;
    std::uintptr_t stack_from_ = 0;
    std::uintptr_t stack_top_ = 0;
    std::size_t stack_bytes_ = 0;
    std::vector<std::uint8_t> alternate_stack_;
    stack_t previous_stack_{};
    struct sigaction previous_action_ {};
};

}  // namespace detail

class RtmEmulator {
  public:
    /// Attempts beyond the script share the fate of its last one; an empty script commits all.
    /// While it lives, rtm_commits() is true for the process.
    explicit RtmEmulator(std::vector<Attempt> script = {})
        : rtm_(std::make_unique<detail::EmulatedRtm>(std::move(script))) {}

    unsigned begins() const { return rtm_->begins; }  ///< outermost XBEGINs executed
    unsigned commits() const { return rtm_->commits; }
    unsigned aborts() const { return rtm_->aborts; }
    unsigned nested_begins() const { return rtm_->nested_begins; }
    unsigned deepest() const { return rtm_->deepest; }
    /// Nested transactions that are open now.
    unsigned depth() const { return rtm_->depth(); }

  private:
    std::unique_ptr<detail::EmulatedRtm> rtm_;
};

}  // namespace abortscope::native
