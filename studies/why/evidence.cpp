// SPDX-License-Identifier: Apache-2.0
#include "studies/why/evidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "machines/model/preset.hpp"
#include "primitives/retry_policy.hpp"
#include "profiler/machine_names.hpp"
#include "reports/hot_lines_table.hpp"
#include "reports/numbers.hpp"

namespace abortscope {
namespace {

using model::AbortReason;

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return percent(share(part, whole)) + " %";
}

std::string listed(const std::vector<std::string>& names) {
    if (names.size() < 2) return names.empty() ? "" : names.front();
    return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string workers(const std::vector<unsigned>& numbers) {
    return (numbers.size() == 1 ? "worker " : "workers ") + number_ranges(numbers);
}

std::uint64_t aborts_of_trial(const TrialResult& result) {
    return std::accumulate(result.abort_reasons.begin(), result.abort_reasons.end(),
                           std::uint64_t{0});
}

std::uint64_t count_of(const TrialResult& result, AbortReason reason) {
    return result.abort_reasons[model::index_of(reason)];
}

// ---- the lock

void add_lemmings(Evidence& evidence, const PhaseSample& phase, const RetryPolicy* policy) {
    const AbortLog& log = phase.log;
    if (log.acquisitions_after_fallback == 0) return;
    const double again = share(log.fallbacks_after_fallback, log.acquisitions_after_fallback);
    constexpr double usually = 0.5;
    constexpr std::uint64_t long_run = 10;
    if (again >= usually && log.longest_fallback_run >= long_run) {
        evidence.mechanism = "lemming effect: one real acquisition makes the next ones real";
    }
    evidence.sentences.push_back(fmt::format(
        "After a fallback the same worker's next acquisition fell back in {} of the cases (of all "
        "acquisitions: {}), up to {} times in a row.",
        share_text(log.fallbacks_after_fallback, log.acquisitions_after_fallback),
        share_text(log.fallbacks, log.acquisitions), with_thousands(log.longest_fallback_run)));
    if (policy != nullptr && !policy->waits_before_begin &&
        !policy->rule_of(AbortClass::lock_busy).waits_until_free) {
        evidence.sentences.push_back(
            fmt::format("{} does not wait for a busy lock: its attempts are used up before the "
                        "lock is free, and then it takes the lock as well.",
                        policy->name));
    }
}

// ---- conflicts

void add_fields(Evidence& evidence, const HotLine& line) {
    std::size_t widest = 0;
    for (const LineField& field : line.fields) widest = std::max(widest, field.object.size());
    for (const LineField& field : line.fields) {
        std::string uses;
        if (!field.writers.empty()) uses = "written by " + workers(field.writers);
        if (field.writers == field.readers) {
            uses = "written and read by " + workers(field.readers);
        } else if (!field.readers.empty()) {
            uses += (uses.empty() ? "read by " : ", read by ") + workers(field.readers);
        }
        evidence.fields.push_back(fmt::format("bytes {:<7} {:<{}}  {}", byte_ranges(field.bytes),
                                              field.object, widest, uses));
    }
}

/// "hmap.n, which workers 0-3 write, shares its line with hmap.mask, which workers 0-3 read."
std::string neighbours(const HotLine& line) {
    std::vector<std::string> written;
    std::vector<std::string> only_read;
    std::vector<unsigned> writers;
    std::vector<unsigned> readers;
    for (const LineField& field : line.fields) {
        const bool writes = !field.writers.empty();
        (writes ? written : only_read).push_back(field.object);
        std::vector<unsigned>& sum = writes ? writers : readers;
        const std::vector<unsigned>& more = writes ? field.writers : field.readers;
        for (const unsigned worker : more) {
            if (std::find(sum.begin(), sum.end(), worker) == sum.end()) sum.push_back(worker);
        }
    }
    if (written.empty() || only_read.empty()) return {};
    std::sort(writers.begin(), writers.end());
    std::sort(readers.begin(), readers.end());
    return fmt::format("{}, which {} {}, shares a line with {}, which {} {}.", listed(written),
                       workers(writers), writers.size() == 1 ? "writes" : "write",
                       listed(only_read), workers(readers), readers.size() == 1 ? "reads" : "read");
}

void add_killers(Evidence& evidence, const HotLine& line) {
    if (!line.victim_site.empty() && !line.killer_site.empty()) {
        evidence.sentences.push_back(
            fmt::format("The last one: a worker in `{}` was ended by one "
                        "in `{}`{}.",
                        line.victim_site, line.killer_site,
                        line.lock.empty() ? "" : "; it elided the lock " + line.lock));
    }
    constexpr double worth_telling = 0.05;
    if (share(line.from_outside, line.conflicts) >= worth_telling) {
        evidence.sentences.push_back(fmt::format(
            "In {} of these conflicts the other side was in no transaction: code that takes no "
            "lock, or that has really taken it.",
            share_text(line.from_outside, line.conflicts)));
    }
    if (share(line.by_read, line.conflicts) >= worth_telling) {
        evidence.sentences.push_back(fmt::format("In {} it only read what the victim had written.",
                                                 share_text(line.by_read, line.conflicts)));
    }
}

void add_conflicts(Evidence& evidence, const AbortCase& abort_case, const PhaseSample& phase) {
    const TrialResult& trial = abort_case.evidence;
    evidence.mechanism = "two workers meet on a cache line";
    if (trial.hot_lines.empty()) return;
    const HotLine& worst = trial.hot_lines.front();
    const std::uint64_t aborts = aborts_of_trial(trial);
    constexpr double one_line = 0.2;
    if (share(worst.aborts, aborts) < one_line) {
        std::uint64_t together = 0;
        for (const HotLine& line : trial.hot_lines) together += line.aborts;
        evidence.mechanism = "chance meetings in much data";
        evidence.sentences.push_back(fmt::format(
            "No one line: the worst, that of {}, has {} of the aborts ({}), the {} worst together "
            "{}.",
            worst.object, share_text(worst.aborts, aborts), kind_of(worst), trial.hot_lines.size(),
            share_text(together, aborts)));
        add_killers(evidence, worst);
        return;
    }
    evidence.sentences.push_back(fmt::format(
        "{} of the aborts are about one cache line, that of {}:", share_text(worst.aborts, aborts),
        worst.object));
    add_fields(evidence, worst);
    if (worst.is_lock) {
        evidence.mechanism = "the lock is really taken, which aborts all who elide it";
        evidence.sentences.push_back(
            fmt::format("The line holds the word of the lock {}: each real acquisition writes it, "
                        "and ends every transaction that elides the lock.",
                        worst.lock));
        add_lemmings(evidence, phase, find_policy(abort_case.repeats.front().policy));
        return;
    }
    if (worst.false_sharing * 2 > worst.conflicts) {
        evidence.mechanism = "false sharing: pad";
        const std::string beside = neighbours(worst);
        if (!beside.empty()) evidence.sentences.push_back(beside);
        evidence.sentences.push_back(
            fmt::format("False sharing: in {} of these conflicts the victim had not used the bytes "
                        "that the other side used, only others of the line.",
                        share_text(worst.false_sharing, worst.conflicts)));
    } else {
        evidence.mechanism = "true sharing: the same bytes are written and used";
        evidence.sentences.push_back(
            fmt::format("True sharing: in {} of these conflicts both sides used the same bytes.",
                        share_text(worst.conflicts - worst.false_sharing, worst.conflicts)));
    }
    add_killers(evidence, worst);
}

// ---- capacity

/// Where in L1 written lines were lost.
std::string overflow_places(const TrialResult& trial) {
    const std::size_t ways = trial.capacity_map_ways;
    if (ways == 0) return {};
    const std::size_t sets = trial.capacity_map.size() / ways;
    std::uint64_t all = 0;
    std::size_t used = 0;
    std::size_t worst = 0;
    std::uint64_t most = 0;
    for (std::size_t set = 0; set < sets; ++set) {
        const auto first = trial.capacity_map.begin() + static_cast<std::ptrdiff_t>(set * ways);
        const std::uint64_t sum =
            std::accumulate(first, first + static_cast<std::ptrdiff_t>(ways), std::uint64_t{0});
        all += sum;
        used += sum != 0 ? 1 : 0;
        if (sum <= most) continue;
        most = sum;
        worst = set;
    }
    if (all == 0) return {};
    std::vector<unsigned> worst_ways;
    for (std::size_t way = 0; way < ways; ++way) {
        if (trial.capacity_map[worst * ways + way] != 0) {
            worst_ways.push_back(static_cast<unsigned>(way));
        }
    }
    return fmt::format("{} of the {} sets overflowed; set {} in {} of the cases, losing {} {}.",
                       used, sets, worst, share_text(most, all),
                       worst_ways.size() == 1 ? "way" : "ways", number_ranges(worst_ways));
}

void add_capacity(Evidence& evidence, const AbortCase& abort_case) {
    const TrialResult& trial = abort_case.evidence;
    evidence.mechanism = "a transaction touches more lines than the cache can keep for it";
    const std::string& machine = abort_case.repeats.front().machine;
    if (is_native(machine)) return;
    const model::Preset preset = preset_of(machine);
    const std::uint64_t read = count_of(trial, AbortReason::capacity_read);
    const std::uint64_t written = count_of(trial, AbortReason::capacity_write);
    evidence.sentences.push_back(fmt::format(
        "When they overflowed, the transactions had touched {:.0f} lines on average; {} lost a "
        "written line, {} a read one.",
        share(trial.capacity_lines, read + written), with_thousands(written),
        with_thousands(read)));
    if (written != 0) {
        evidence.sentences.push_back(
            fmt::format("Written lines must stay in L1: {} sets of {} ways, {} lines or {} KiB.",
                        preset.l1_sets, preset.l1_ways, preset.l1_sets * preset.l1_ways,
                        preset.l1_sets * preset.l1_ways * 64 / 1024));
        const std::string places = overflow_places(trial);
        if (!places.empty()) evidence.sentences.push_back(places);
    }
    if (read != 0) {
        const bool in_l2 =
            preset.rtm_read_tracking == static_cast<unsigned>(model::ReadTracking::l2);
        evidence.sentences.push_back(fmt::format(
            "Read lines may leave L1, but not L{}: {} sets of {} ways.", in_l2 ? 2 : 3,
            in_l2 ? preset.l2_sets : preset.l3_sets, in_l2 ? preset.l2_ways : preset.l3_ways));
    }
    if (!trial.hot_lines.empty()) {
        evidence.sentences.push_back(fmt::format("The line that was lost most often is that of {}.",
                                                 trial.hot_lines.front().object));
    }
}

// ---- nesting, status 0, XABORT

/// What ends transactions with status 0.
struct ReasonWords {
    AbortReason reason;
    std::string_view mechanism;
    std::string_view sentence;
};

constexpr ReasonWords reasons_of_other[] = {
    {AbortReason::pause, "PAUSE inside the transaction",
     "PAUSE always aborts. A spin loop inside is enough: waiting for another lock, for example."},
    {AbortReason::system_call, "a system call inside the transaction",
     "A system call always aborts, and has not happened then: output of an aborted section is "
     "lost."},
    {AbortReason::interrupt, "interrupts during long transactions",
     "An interrupt ends whatever transaction it meets: the longer one runs, the likelier."},
    {AbortReason::page_fault, "page faults inside the transaction",
     "The fault is suppressed, so the page stays away: retrying never helps until it has been "
     "touched outside."},
    {AbortReason::context_switch, "context switches during transactions",
     "The scheduler took the CPU away: there are more workers than CPUs."},
};

void add_other(Evidence& evidence, const AbortCase& abort_case) {
    const TrialResult& trial = abort_case.evidence;
    const std::uint64_t aborts = aborts_of_trial(trial);
    const ReasonWords* worst =
        std::max_element(std::begin(reasons_of_other), std::end(reasons_of_other),
                         [&](const ReasonWords& a, const ReasonWords& b) {
                             return count_of(trial, a.reason) < count_of(trial, b.reason);
                         });
    if (count_of(trial, worst->reason) == 0) return;
    evidence.mechanism = worst->mechanism;
    std::vector<ReasonWords> by_count(std::begin(reasons_of_other), std::end(reasons_of_other));
    std::stable_sort(by_count.begin(), by_count.end(),
                     [&](const ReasonWords& a, const ReasonWords& b) {
                         return count_of(trial, a.reason) > count_of(trial, b.reason);
                     });
    for (const ReasonWords& each : by_count) {
        const std::uint64_t count = count_of(trial, each.reason);
        if (count == 0) continue;
        evidence.sentences.push_back(fmt::format("{} of the aborts: {}. {}",
                                                 share_text(count, aborts),
                                                 model::name_of(each.reason), each.sentence));
    }
    std::uint64_t cycles = 0;
    std::uint64_t faults = 0;
    for (const Measurement& row : abort_case.rows) {
        cycles += row.counters[index_of(Counter::cycles_t)].value.value_or(0);
        faults += row.counters[index_of(Counter::page_faults)].value.value_or(0);
    }
    const std::uint64_t attempts = abort_case.log().attempts;
    if (worst->reason == AbortReason::interrupt && attempts != 0) {
        const model::Preset preset = preset_of(abort_case.repeats.front().machine);
        const double us =
            static_cast<double>(preset.ns_of_cycles(cycles)) / static_cast<double>(attempts) / 1e3;
        evidence.sentences.push_back(
            fmt::format("A transaction runs for {:.1f} us on average; a CPU of {} is interrupted "
                        "every {:.0f} us.",
                        us, abort_case.repeats.front().machine, 1e6 / preset.timer_hz));
    }
    if (worst->reason == AbortReason::page_fault) {
        evidence.sentences.push_back(
            fmt::format("In all repeats {} page faults were taken, outside transactions.",
                        with_thousands(faults)));
    }
}

void add_nesting(Evidence& evidence, const AbortCase& abort_case) {
    const TrialResult& trial = abort_case.evidence;
    const std::uint64_t overflows = count_of(trial, AbortReason::nest_overflow);
    if (overflows == 0) {
        evidence.mechanism = "events inside inner transactions";
        add_other(evidence, abort_case);
        return;
    }
    const unsigned levels = preset_of(abort_case.repeats.front().machine).rtm_max_nest;
    evidence.mechanism = "too many levels of nesting";
    evidence.sentences.push_back(
        fmt::format("{} of the aborts: an XBEGIN at depth {}, where {} counts {} levels.",
                    share_text(overflows, aborts_of_trial(trial)), levels + 1,
                    abort_case.repeats.front().machine, levels));
    if (!abort_case.repeats.front().lock.empty()) {
        evidence.sentences.push_back(fmt::format(
            "Each elided lock that is taken inside another one's section is a level; {} is made of "
            "several.",
            abort_case.repeats.front().lock));
    }
}

void add_explicit(Evidence& evidence, const PhaseSample& phase) {
    evidence.mechanism = "the program itself executes XABORT";
    std::vector<std::string> codes;
    for (std::size_t code = 0; code < phase.log.explicit_codes.size(); ++code) {
        const std::uint64_t count = phase.log.explicit_codes[code];
        if (count == 0 || code == rtm::code::lock_busy) continue;
        codes.push_back(fmt::format("{:#04x} {} times", code, with_thousands(count)));
    }
    evidence.sentences.push_back(fmt::format("Its codes: {}.", listed(codes)));
    if (phase.log.explicit_codes[rtm::code::nested_trylock] != 0) {
        evidence.sentences.emplace_back("0xfd is glibc's: trylock inside a transaction.");
    }
}

/// On hardware the counters are all there is beside the status words.
void add_counters(Evidence& evidence, const AbortCase& abort_case) {
    std::vector<std::string> shown;
    for (const Counter counter :
         {Counter::tx_conflict, Counter::tx_capacity, Counter::tx_capacity_read,
          Counter::tx_capacity_write, Counter::abort_mem, Counter::abort_unfriendly,
          Counter::abort_events, Counter::abort_timer, Counter::abort_memtype}) {
        std::uint64_t sum = 0;
        bool counted = false;
        for (const Measurement& row : abort_case.rows) {
            const Reading& reading = row.counters[index_of(counter)];
            counted = counted || reading.value.has_value();
            sum += reading.value.value_or(0);
        }
        if (counted) shown.push_back(fmt::format("{} {}", name_of(counter), with_thousands(sum)));
    }
    evidence.sentences.push_back(
        shown.empty() ? "No counter that could say more opens here; `abortscope doctor` says why."
                      : fmt::format("The processor counted: {}.", fmt::join(shown, ", ")));
    evidence.sentences.emplace_back(
        "Which line, set or instruction it was only a model machine knows: --machine "
        "model:haswell.");
}

}  // namespace

Evidence evidence_of(const AbortCase& abort_case, rtm::Cause cause, const PhaseSample& phase) {
    const bool native = is_native(abort_case.repeats.front().machine);
    Evidence evidence;
    switch (cause) {
        case rtm::Cause::conflict:
            add_conflicts(evidence, abort_case, phase);
            break;
        case rtm::Cause::capacity:
            add_capacity(evidence, abort_case);
            break;
        case rtm::Cause::explicit_abort:
            add_explicit(evidence, phase);
            break;
        case rtm::Cause::lock_busy:
            evidence.mechanism = "the elided lock is found taken";
            evidence.sentences.push_back(
                fmt::format("XABORT 0xff, which says that the lock was busy: {} times.",
                            with_thousands(phase.log.explicit_codes[rtm::code::lock_busy])));
            add_lemmings(evidence, phase, find_policy(abort_case.repeats.front().policy));
            break;
        case rtm::Cause::nested:
            evidence.mechanism = "too many levels of nesting, or an event inside an inner one";
            if (!native) add_nesting(evidence, abort_case);
            break;
        case rtm::Cause::debug:
            evidence.mechanism = "a debugger's breakpoint or debug exception";
            break;
        case rtm::Cause::other:
            evidence.mechanism = "status 0: an interrupt, a fault, a system call or an instruction";
            if (!native) add_other(evidence, abort_case);
            break;
    }
    if (native) add_counters(evidence, abort_case);
    return evidence;
}

}  // namespace abortscope
