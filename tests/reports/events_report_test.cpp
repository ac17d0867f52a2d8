// SPDX-License-Identifier: Apache-2.0
#include "reports/events_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace abortscope {
namespace {

using ::testing::HasSubstr;

ListedEvent event(const char* counter, const char* reason, const char* caveat) {
    ListedEvent row;
    row.counter = counter;
    row.event = "RTM_RETIRED.START";
    row.libpfm = "skx::RTM_RETIRED:START";
    row.encoding = "0x1c9";
    row.counters = "any";
    row.pmu = "cpu";
    row.opens = *reason == '\0';
    row.reason = reason;
    row.caveat = caveat;
    return row;
}

TEST(EventsReport, NotesAreNumberedByTheirFirstUseAndSharedByTheRows) {
    const std::vector<ListedEvent> rows{event("a", "EPERM: not permitted", "speculative"),
                                        event("b", "", ""),
                                        event("c", "EPERM: not permitted", "together")};
    const std::string text = events_text("A CPU", rows);
    EXPECT_THAT(text, HasSubstr("no     [1][2]\n"));
    EXPECT_THAT(text, HasSubstr("no     [1][3]\n"));
    EXPECT_THAT(text, HasSubstr("\n[1] EPERM: not permitted\n[2] speculative\n[3] together\n"));
}

TEST(EventsReport, TheCsvKeepsEmptyApartFromNo) {
    ListedEvent untried = event("a", "", "one, two");
    untried.opens = std::nullopt;
    const std::vector<ListedEvent> rows{untried, event("b", "EPERM", "")};
    EXPECT_EQ(events_csv(rows),
              "counter,event,libpfm4,encoding,counters,precise,pmu,opens,reason,caveat\n"
              "a,RTM_RETIRED.START,skx::RTM_RETIRED:START,0x1c9,any,no,cpu,,,\"one, two\"\n"
              "b,RTM_RETIRED.START,skx::RTM_RETIRED:START,0x1c9,any,no,cpu,no,EPERM,\n");
}

}  // namespace
}  // namespace abortscope
