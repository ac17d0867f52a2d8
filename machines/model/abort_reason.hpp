// SPDX-License-Identifier: Apache-2.0
//
// Why the engine ends a transaction. The status word tells less: an interrupt, a page fault, a
// system call and PAUSE all leave 0. The model knows which it was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace abortscope::model {

enum class AbortReason : std::uint8_t {
    conflict,
    capacity_read,
    capacity_write,
    explicit_abort,
    pause,
    system_call,
    interrupt,
    page_fault,
    context_switch,
    nest_overflow,
    injected,
};

inline constexpr std::size_t abort_reason_count = 11;

constexpr std::size_t index_of(AbortReason reason) {
    return static_cast<std::size_t>(reason);
}

/// As reports say them, in the order of AbortReason.
inline constexpr std::array<std::string_view, abort_reason_count> abort_reason_names{
    "conflict",
    "capacity (read line)",
    "capacity (written line)",
    "XABORT",
    "PAUSE",
    "system call",
    "interrupt",
    "page fault",
    "context switch",
    "nesting limit",
    "injected"};

constexpr std::string_view name_of(AbortReason reason) {
    return abort_reason_names[index_of(reason)];
}

/// Aborts of a trial by reason, at `index_of`.
using AbortReasonCounts = std::array<std::uint64_t, abort_reason_count>;

}  // namespace abortscope::model
