// SPDX-License-Identifier: Apache-2.0
#include "reports/events_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reports/csv.hpp"
#include "reports/text_table.hpp"

namespace abortscope {
namespace {

std::string opens_text(const ListedEvent& event) {
    if (!event.opens) return "";
    return *event.opens ? "yes" : "no";
}

/// Each distinct note once, numbered in the order of its first use.
class Notes {
  public:
    std::string mark(const std::string& note) {
        if (note.empty()) return {};
        const auto known = std::find(notes_.begin(), notes_.end(), note);
        if (known == notes_.end()) {
            notes_.push_back(note);
            return fmt::format("[{}]", notes_.size());
        }
        return fmt::format("[{}]", known - notes_.begin() + 1);
    }
    std::string text() const {
        std::string text;
        for (std::size_t i = 0; i < notes_.size(); ++i) {
            text += fmt::format("[{}] {}\n", i + 1, notes_[i]);
        }
        return text;
    }

  private:
    std::vector<std::string> notes_;
};

}  // namespace

std::string events_text(std::string_view title, std::span<const ListedEvent> events,
                        std::size_t width) {
    using enum TextTable::Align;
    TextTable table({{"counter", "", left},
                     {"event", "", left},
                     {"encoding", "", right},
                     {"counters", "", left, 3},
                     {"precise", "", left, 2},
                     {"libpfm4", "", left, 1},
                     {"pmu", "", left},
                     {"opens", "", left},
                     {"notes", "", left}});
    Notes notes;
    for (const ListedEvent& event : events) {
        const std::string reason = notes.mark(event.reason);
        table.add({event.counter.empty() ? "-" : event.counter, event.event, event.encoding,
                   event.counters, event.precise ? "yes" : "",
                   event.libpfm.empty() ? "-" : event.libpfm, event.pmu, opens_text(event),
                   reason + notes.mark(event.caveat)});
    }
    table.fit(width);
    return fmt::format("{}\n\n{}\n{}", title, table.text(), notes.text());
}

std::string events_csv(std::span<const ListedEvent> events) {
    std::string text = "counter,event,libpfm4,encoding,counters,precise,pmu,opens,reason,caveat\n";
    for (const ListedEvent& event : events) {
        const std::array<std::string, 10> fields{event.counter,  event.event,
                                                 event.libpfm,   event.encoding,
                                                 event.counters, event.precise ? "yes" : "no",
                                                 event.pmu,      opens_text(event),
                                                 event.reason,   event.caveat};
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i != 0) text += ',';
            text += csv_field(fields[i]);
        }
        text += '\n';
    }
    return text;
}

}  // namespace abortscope
