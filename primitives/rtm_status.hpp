// SPDX-License-Identifier: Apache-2.0
//
// The RTM abort status: the word that XBEGIN leaves in EAX, its bits, and the exclusive cause.
//
//   31..24        5       4      3         2         1      0
//   XABORT code | nested | debug | capacity | conflict | retry | explicit
//
// Source: Intel SDM vol. 1, 16.3.5 "RTM abort status definition". Several bits may be set at once
// (a conflict is usually conflict|retry, 0x6), so two things are counted beside each other: the
// bits, inclusively, and one cause per abort, exclusively, by the precedence of `cause_of`. The
// causes of a set of aborts therefore add up to its number; the bits may add up to more.
//
// Status 0 is an abort like any other: an interrupt, a fault, a system call or an instruction
// that RTM does not support.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace abortscope::rtm {

enum class StatusBit : std::uint32_t {
    explicit_abort = 1u << 0,  ///< XABORT was executed; bits 31..24 hold its operand
    retry = 1u << 1,           ///< the processor hints that a retry may succeed
    conflict = 1u << 2,        ///< another logical processor touched a line of the transaction
    capacity = 1u << 3,        ///< a tracking buffer overflowed
    debug = 1u << 4,           ///< a debug exception or breakpoint was hit
    nested = 1u << 5,          ///< the abort happened inside an inner transaction
};

inline constexpr std::size_t status_bit_count = 6;

/// Spelled as in the CSV columns `bit_…`, in the order of the bits.
inline constexpr std::array<std::string_view, status_bit_count> status_bit_names{
    "explicit", "retry", "conflict", "capacity", "debug", "nested"};

/// XABORT codes that have a conventional meaning.
namespace code {
inline constexpr std::uint8_t lock_busy = 0xff;       ///< elision found the lock taken
inline constexpr std::uint8_t state_query = 0xfe;     ///< the lock's state was asked for inside
inline constexpr std::uint8_t nested_trylock = 0xfd;  ///< glibc: trylock inside a transaction
inline constexpr std::uint8_t ordering = 0xfc;        ///< kernel: interrupt or ordering mismatch
}  // namespace code

/// What `begin()` returns: all ones while the transaction runs, the abort status afterwards.
class Status {
  public:
    constexpr Status() = default;
    constexpr explicit Status(std::uint32_t word) : word_(word) {}

    /// The value that compilers preload EAX with; XBEGIN leaves it alone when it starts.
    static constexpr Status started() { return Status{~std::uint32_t{0}}; }

    /// XABORT `code`, inside an inner transaction or not.
    static constexpr Status explicit_abort(std::uint8_t code) {
        return Status{1u | std::uint32_t{code} << 24};
    }
    static constexpr Status conflict() { return Status{0x6}; }
    static constexpr Status capacity() { return Status{0x8}; }
    static constexpr Status unspecified() { return Status{0}; }

    constexpr std::uint32_t word() const { return word_; }
    constexpr bool is_started() const { return word_ == ~std::uint32_t{0}; }
    constexpr bool has(StatusBit bit) const {
        return (word_ & static_cast<std::uint32_t>(bit)) != 0;
    }
    /// The operand of XABORT; meaningful only with the explicit bit.
    constexpr std::uint8_t xabort_code() const { return static_cast<std::uint8_t>(word_ >> 24); }
    constexpr Status with_nested() const {
        return Status{word_ | static_cast<std::uint32_t>(StatusBit::nested)};
    }

    constexpr bool operator==(const Status&) const = default;

  private:
    std::uint32_t word_ = 0;
};

/// The exclusive class of an abort, in the order of the columns `cause_…`.
enum class Cause : std::uint8_t {
    conflict,
    capacity,
    explicit_abort,
    lock_busy,
    nested,
    debug,
    other,
};

inline constexpr std::size_t cause_count = 7;

inline constexpr std::array<std::string_view, cause_count> cause_names{
    "conflict", "capacity", "explicit", "lock_busy", "nested", "debug", "other"};

constexpr std::string_view name_of(Cause cause) {
    return cause_names[static_cast<std::size_t>(cause)];
}

/// One row of the precedence table: the first row whose bit is set decides.
struct CauseRule {
    StatusBit bit;
    bool only_lock_busy;  ///< the row also wants XABORT code 0xff
    Cause cause;
};

/// docs/causes.md prints this table; `decode` explains a word by it.
inline constexpr std::array<CauseRule, 6> cause_precedence{{
    {StatusBit::explicit_abort, true, Cause::lock_busy},
    {StatusBit::explicit_abort, false, Cause::explicit_abort},
    {StatusBit::capacity, false, Cause::capacity},
    {StatusBit::conflict, false, Cause::conflict},
    {StatusBit::debug, false, Cause::debug},
    {StatusBit::nested, false, Cause::nested},
}};

/// The exclusive cause of an abort status. `status` must not be `started()`.
constexpr Cause cause_of(Status status) {
    for (const CauseRule& rule : cause_precedence) {
        if (status.has(rule.bit) &&
            (!rule.only_lock_busy || status.xabort_code() == code::lock_busy)) {
            return rule.cause;
        }
    }
    return Cause::other;
}

}  // namespace abortscope::rtm
