// SPDX-License-Identifier: Apache-2.0
#include "reports/trace_json.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "primitives/rtm_status.hpp"
#include "reports/hot_lines_table.hpp"

namespace abortscope {
namespace {

using model::AbortEvent;
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, span_kind_count> categories{
    "phase", "transaction", "transaction", "transaction", "lock",
    "lock",  "cpu",         "cpu",         "cpu",         "cpu"};
constexpr std::array<std::string_view, trace_track_count> track_suffixes{"", ": locks held",
                                                                         ": CPU"};

std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Microseconds, with the nanoseconds as decimals.
std::string microseconds(std::uint64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::size_t thread_id(unsigned worker, TraceTrack track) {
    return worker * trace_track_count + static_cast<std::size_t>(track) + 1;
}

std::string cause_of(const AbortEvent& event) {
    return std::string(name_of(rtm::cause_of(event.status)));
}

std::string span_name(const Trace& trace, const TraceSpan& span) {
    const std::string& what = trace.names[span.what];
    switch (span.kind) {
        case SpanKind::phase:
            return what;
        case SpanKind::committed:
            return "transaction";
        case SpanKind::aborted:
            return "aborted: " + cause_of(trace.aborts[span.number - 1].event);
        case SpanKind::rollback:
            return "roll-back";
        case SpanKind::waits:
            return "waits for " + what;
        case SpanKind::holds:
            return "holds " + what;
        case SpanKind::runs:
            return fmt::format("CPU {}", span.number);
        case SpanKind::preempted:
            return "preempted";
        case SpanKind::futex_sleep:
            return "futex: sleeps on " + what;
        case SpanKind::sleeps:
            return "sleeps";
    }
    return "";
}

Json abort_arguments(const Trace& trace, const TraceAbort& abort) {
    const AbortEvent& event = abort.event;
    Json json;
    json["abort"] = event.number;
    json["cause"] = cause_of(event);
    json["reason"] = name_of(event.reason);
    json["status"] = fmt::format("{:#x}", event.status.word());
    if (event.status.has(rtm::StatusBit::explicit_abort)) {
        json["xabort_code"] = fmt::format("{:#04x}", event.status.xabort_code());
    }
    const auto set = [&](const char* key, std::string_view text) {
        if (!text.empty()) json[key] = text;
    };
    set("lock", trace.names[abort.victim_lock]);
    set("doing", event.victim_site);
    set("object", trace.names[abort.object]);
    set("read_bytes", byte_ranges(event.victim_read));
    set("written_bytes", byte_ranges(event.victim_written));
    if (event.level != 0) {
        json["overflowed"] = fmt::format("L{} set {} way {}", event.level, event.set, event.way);
    }
    if (event.killer < 0) return json;
    json["killer"] = fmt::format("worker {}", event.killer);
    set("killer_doing", event.killer_site);
    set("killer_lock", trace.names[abort.killer_lock]);
    json["killer_in_transaction"] = event.killer_in_transaction;
    set(event.killer_wrote ? "killer_wrote_bytes" : "killer_read_bytes",
        byte_ranges(event.killer_bytes));
    json["false_sharing"] = event.false_sharing();
    return json;
}

Json span_arguments(const Trace& trace, const TraceSpan& span) {
    switch (span.kind) {
        case SpanKind::committed:
            if (span.what == 0) break;
            return {{"lock", trace.names[span.what]}};
        case SpanKind::aborted:
            return abort_arguments(trace, trace.aborts[span.number - 1]);
        case SpanKind::rollback:
            return {{"abort", trace.aborts[span.number - 1].event.number}};
        case SpanKind::holds:
            if (span.number > 1) return {{"locks_at_once", span.number}};
            break;
        default:
            break;
    }
    return nullptr;
}

class Writer {
  public:
    explicit Writer(std::string_view head) : text_(head) {}

    /// `rest` are further members, each after a comma.
    template <class... Arguments>
    void event(fmt::format_string<Arguments...> members, Arguments&&... arguments) {
        text_ += first_ ? "\n{" : ",\n{";
        first_ = false;
        fmt::format_to(std::back_inserter(text_), members, std::forward<Arguments>(arguments)...);
        text_ += '}';
    }
    std::string finish(std::string_view tail) {
        text_ += tail;
        return std::move(text_);
    }

  private:
    std::string text_;
    bool first_ = true;
};

void write_names(Writer& writer, const Trace& trace, std::string_view title) {
    writer.event(R"("ph":"M","pid":1,"name":"process_name","args":{{"name":{}}})",
                 dumped(std::string(title)));
    for (unsigned worker = 0; worker < trace.workers; ++worker) {
        for (std::size_t track = 0; track < trace_track_count; ++track) {
            const std::size_t id = thread_id(worker, static_cast<TraceTrack>(track));
            writer.event(
                R"("ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":"worker {}{}"}})",
                id, worker, track_suffixes[track]);
            writer.event(
                R"("ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}})",
                id);
        }
    }
}

void write_span(Writer& writer, const Trace& trace, const TraceSpan& span) {
    const Json arguments = span_arguments(trace, span);
    writer.event(R"("ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"cat":"{}","name":{}{}{})",
                 thread_id(span.worker, span.track), microseconds(span.begin_ns),
                 microseconds(span.end_ns - span.begin_ns),
                 categories[static_cast<std::size_t>(span.kind)], dumped(span_name(trace, span)),
                 arguments.is_null() ? "" : R"(,"args":)",
                 arguments.is_null() ? "" : dumped(arguments));
}

/// From the killer to the span that has just been written.
void write_flow(Writer& writer, const TraceSpan& rollback, const TraceAbort& abort) {
    if (!abort.killer_track) return;
    const std::string time = microseconds(rollback.begin_ns);
    writer.event(R"("ph":"s","pid":1,"tid":{},"ts":{},"id":{},"cat":"abort","name":"aborts")",
                 thread_id(static_cast<unsigned>(abort.event.killer), *abort.killer_track), time,
                 abort.event.number);
    writer.event(
        R"("ph":"f","bp":"e","pid":1,"tid":{},"ts":{},"id":{},"cat":"abort","name":"aborts")",
        thread_id(rollback.worker, rollback.track), time, abort.event.number);
}

}  // namespace

std::string trace_json(const Trace& trace, std::string_view title, const ReportContext& context) {
    Writer writer(R"({"traceEvents":[)");
    write_names(writer, trace, title);
    auto cut = trace.cuts.begin();
    const auto write_cuts = [&](std::uint64_t until_ns) {
        for (; cut != trace.cuts.end() && cut->time_ns <= until_ns; ++cut) {
            writer.event(R"("ph":"i","s":"g","pid":1,"tid":1,"ts":{},"cat":"limit","name":{})",
                         microseconds(cut->time_ns),
                         dumped(fmt::format("the rest of {} is not recorded", cut->phase)));
        }
    };
    for (const TraceSpan& span : trace.spans) {
        write_cuts(span.begin_ns);
        write_span(writer, trace, span);
        if (span.kind == SpanKind::rollback) {
            write_flow(writer, span, trace.aborts[span.number - 1]);
        }
    }
    write_cuts(~std::uint64_t{0});

    Json about;
    about["command"] = shell_command(context.command);
    for (const auto& [name, value] : context.build) {
        if (name == "version") about["abortscope"] = value;
    }
    about["time"] = "simulated";
    about["spans_of_a_phase_at_most"] = trace.limit;
    return writer.finish(
        fmt::format("\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{}}}\n", dumped(about)));
}

}  // namespace abortscope
