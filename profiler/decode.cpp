// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace abortscope {
namespace {

struct BitText {
    rtm::StatusBit bit;
    std::string_view meaning;
};

constexpr std::array<BitText, rtm::status_bit_count> bit_texts{{
    {rtm::StatusBit::explicit_abort, "XABORT was executed; bits 31..24 hold its code"},
    {rtm::StatusBit::retry, "the processor hints that a retry may succeed"},
    {rtm::StatusBit::conflict, "another logical processor touched a line of the transaction"},
    {rtm::StatusBit::capacity, "more lines than the caches can keep track of"},
    {rtm::StatusBit::debug, "a debug exception or breakpoint was hit"},
    {rtm::StatusBit::nested, "the abort happened inside an inner transaction"},
}};

/// What to do, by the cause; in the order of rtm::Cause.
constexpr std::array<std::string_view, rtm::cause_count> advice{
    "find the line that both sides touch (abortscope why); split or pad it; retry after a pause",
    "make the critical section touch fewer lines, or take the lock at once: retrying rarely helps",
    "look for this XABORT in the program: it gave up on its own account",
    "wait until the lock is free before the next attempt, or each real acquisition brings more",
    "nothing but the nesting is known: abort statuses of inner regions reach the outermost XBEGIN",
    "run without breakpoints in the transaction (or use RTM's advanced debugging)",
    "a system call, fault, interrupt or forbidden instruction (PAUSE, CPUID): keep them out, touch "
    "pages before; if every status is 0, RTM is forced off: abortscope doctor",
};

struct CodeText {
    std::uint8_t code;
    std::string_view meaning;
};

constexpr std::array<CodeText, 4> code_texts{{
    {rtm::code::lock_busy, "lock busy: elision found the lock taken"},
    {rtm::code::state_query, "state query: the lock's state was asked for inside"},
    {rtm::code::nested_trylock, "nested trylock: glibc's trylock inside a transaction"},
    {rtm::code::ordering, "ordering or interrupt mismatch: the kernel's elision"},
}};

std::string_view code_meaning(std::uint8_t code) {
    const auto* found = std::find_if(code_texts.begin(), code_texts.end(),
                                     [code](const CodeText& row) { return row.code == code; });
    return found == code_texts.end() ? "the program's own" : found->meaning;
}

constexpr std::uint32_t reserved_bits = 0x00ffffc0;

std::string bit_names(rtm::Status status) {
    std::string names;
    for (std::size_t i = 0; i < rtm::status_bit_count; ++i) {
        if ((status.word() >> i & 1u) == 0) continue;
        if (!names.empty()) names += '|';
        names += rtm::status_bit_names[i];
    }
    return names.empty() ? "no bit" : names;
}

std::string code_suffix(rtm::Status status) {
    if (!status.has(rtm::StatusBit::explicit_abort)) return {};
    return fmt::format(", code {:#04x}", status.xabort_code());
}

struct FlagText {
    std::uint64_t flag;
    std::string_view name;
    std::string_view meaning;
};

constexpr std::array<FlagText, 8> flag_texts{{
    {PERF_TXN_ELISION, "EL", "in a hardware lock elision region"},
    {PERF_TXN_TRANSACTION, "TX", "in an RTM region"},
    {PERF_TXN_SYNC, "SYNC", "caused by an instruction of the region"},
    {PERF_TXN_ASYNC, "ASYNC", "not caused by an instruction of the region"},
    {PERF_TXN_RETRY, "RETRY", "a retry may succeed"},
    {PERF_TXN_CONFLICT, "CON", "another logical processor touched a line of the region"},
    {PERF_TXN_CAPACITY_WRITE, "CAP-WRITE", "too many lines written"},
    {PERF_TXN_CAPACITY_READ, "CAP-READ", "too many lines read"},
}};

/// The cause by the precedence of status words; the code was stored only for an XABORT.
rtm::Cause cause_of_flags(std::uint64_t flags) {
    const std::uint64_t code = (flags & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT;
    if (code == rtm::code::lock_busy) return rtm::Cause::lock_busy;
    if (code != 0) return rtm::Cause::explicit_abort;
    if ((flags & (PERF_TXN_CAPACITY_WRITE | PERF_TXN_CAPACITY_READ)) != 0) {
        return rtm::Cause::capacity;
    }
    if ((flags & PERF_TXN_CONFLICT) != 0) return rtm::Cause::conflict;
    return rtm::Cause::other;
}

}  // namespace

std::optional<std::uint64_t> parse_word(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::string explain_status(rtm::Status status) {
    if (status.is_started()) {
        return fmt::format("{:#010x}  no abort: XBEGIN's own \"started\"\n", status.word());
    }
    const rtm::Cause cause = rtm::cause_of(status);
    std::string text = fmt::format("{:#010x}  cause {}: {}{}\n", status.word(), rtm::name_of(cause),
                                   bit_names(status), code_suffix(status));
    for (std::size_t i = 0; i < rtm::status_bit_count; ++i) {
        if (!status.has(bit_texts[i].bit)) continue;
        text +=
            fmt::format("  bit {} {:<9} {}\n", i, rtm::status_bit_names[i], bit_texts[i].meaning);
    }
    if (status.has(rtm::StatusBit::explicit_abort)) {
        text += fmt::format("  code {:#04x}       {}\n", status.xabort_code(),
                            code_meaning(status.xabort_code()));
    } else if (status.xabort_code() != 0) {
        text += fmt::format("  bits 31..24     {:#04x}, which means nothing without bit 0\n",
                            status.xabort_code());
    }
    if ((status.word() & reserved_bits) != 0) {
        text += fmt::format("  bits 23..6      {:#x}, reserved: is this a status word at all?\n",
                            status.word() & reserved_bits);
    }
    return text + fmt::format("  what to do      {}\n", advice[static_cast<std::size_t>(cause)]);
}

std::string explain_transaction_flags(std::uint64_t flags) {
    std::string names;
    std::string lines;
    for (const FlagText& row : flag_texts) {
        if ((flags & row.flag) == 0) continue;
        names += fmt::format("{}{}", names.empty() ? "" : " ", row.name);
        lines += fmt::format("  {:<10} {}\n", row.name, row.meaning);
    }
    if ((flags & (PERF_TXN_SYNC | PERF_TXN_ASYNC)) == 0) {
        names += names.empty() ? "NEITHER" : " NEITHER";
        lines += "  NEITHER    whether an instruction caused it is not known\n";
    }
    const std::uint64_t code = (flags & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT;
    if (code != 0) {
        names += fmt::format(" :{:x}", code);
        lines += fmt::format("  :{:<9x} XABORT code: {}\n", code,
                             code <= 0xff ? code_meaning(static_cast<std::uint8_t>(code))
                                          : "beyond the eight bits of XABORT");
    }
    const rtm::Cause cause = cause_of_flags(flags);
    return fmt::format("{:#x}  cause {}: {}\n{}  what to do {}\n", flags, rtm::name_of(cause),
                       names, lines, advice[static_cast<std::size_t>(cause)]);
}

std::uint64_t StatusLog::size() const {
    std::uint64_t sum = 0;
    for (const auto& [word, count] : words_) sum += count;
    return sum;
}

std::string StatusLog::text() const {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> words(words_.begin(), words_.end());
    std::stable_sort(words.begin(), words.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::array<std::uint64_t, rtm::cause_count> causes{};
    std::array<std::uint64_t, rtm::status_bit_count> bits{};
    std::uint64_t aborts = 0;
    std::string text =
        fmt::format("{:>10}  {:<10}  {:<9}  {}\n", "times", "status", "cause", "bits");
    for (const auto& [word, count] : words) {
        const rtm::Status status{word};
        if (status.is_started()) {
            text +=
                fmt::format("{:>10}  {:#010x}  {:<9}  no abort: \"started\"\n", count, word, "-");
            continue;
        }
        const rtm::Cause cause = rtm::cause_of(status);
        text += fmt::format("{:>10}  {:#010x}  {:<9}  {}{}\n", count, word, rtm::name_of(cause),
                            bit_names(status), code_suffix(status));
        causes[static_cast<std::size_t>(cause)] += count;
        for (std::size_t i = 0; i < bits.size(); ++i) bits[i] += (word >> i & 1u) * count;
        aborts += count;
    }
    text += fmt::format("\n{} aborts. By cause (these add up):", aborts);
    for (std::size_t i = 0; i < causes.size(); ++i) {
        if (causes[i] != 0) text += fmt::format(" {} {}", rtm::cause_names[i], causes[i]);
    }
    text += "\nBy bit (these may not): ";
    for (std::size_t i = 0; i < bits.size(); ++i) {
        if (bits[i] != 0) text += fmt::format(" {} {}", rtm::status_bit_names[i], bits[i]);
    }
    text += '\n';
    if (aborts != 0 && causes[static_cast<std::size_t>(rtm::Cause::other)] == aborts) {
        text += fmt::format("Every status is 0: {}. `abortscope doctor` tells which.\n",
                            every_status_zero);
    }
    return text;
}

std::vector<std::uint64_t> words_in(std::string_view line) {
    std::vector<std::uint64_t> words;
    std::size_t tokens = 0;
    std::optional<std::uint64_t> last;
    for (std::size_t at = 0; at < line.size();) {
        const auto part = [&](std::size_t i) {
            return std::isalnum(static_cast<unsigned char>(line[i])) != 0;
        };
        if (!part(at)) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < line.size() && part(end)) ++end;
        const std::string_view token = line.substr(at, end - at);
        ++tokens;
        last = parse_word(token);
        if (last && (token.starts_with("0x") || token.starts_with("0X"))) words.push_back(*last);
        at = end;
    }
    if (words.empty() && tokens == 1 && last) words.push_back(*last);
    return words;
}

}  // namespace abortscope
