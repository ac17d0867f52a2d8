// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/event_table.hpp"

#include <algorithm>
#include <array>

namespace abortscope {
namespace {

constexpr std::uint8_t H = events_hsw;
constexpr std::uint8_t B = events_bdw;
constexpr std::uint8_t S = events_skl;
constexpr std::uint8_t I = events_icl;
constexpr std::uint8_t X = events_icx;
constexpr std::uint8_t P = events_spr;
constexpr std::uint8_t HB = H | B;
constexpr std::uint8_t HBS = HB | S;
constexpr std::uint8_t HBSI = HBS | I;
constexpr std::uint8_t SI = S | I;
constexpr std::uint8_t IXP = I | X | P;
constexpr std::uint8_t SIXP = S | IXP;
constexpr std::uint8_t all = HBS | IXP;

constexpr std::string_view categories =
    "an abort with several reasons may count in one category: the five need not add up to tx_abort";
constexpr std::string_view signalled = "counts aborts signalled, of RTM and HLE together";
constexpr std::string_view write_named =
    "Intel's name says WRITE: aborts for read capacity may be missing";
constexpr std::string_view unsplit = "reads and writes together";
constexpr std::string_view speculative = "also counts aborts on a mispredicted path";
constexpr std::string_view executions = "counts executions in a region, whether it aborts or not";

// clang-format off
constexpr std::array<Event, 48> table{{
    // logical           Intel                                    libpfm4                                  config   groups precise low
    {"tx_start",         "RTM_RETIRED.START",                     "RTM_RETIRED:START",                     0x01c9,  all,  0,   0, "nested regions are not counted"},
    {"tx_commit",        "RTM_RETIRED.COMMIT",                    "RTM_RETIRED:COMMIT",                    0x02c9,  all,  0,   0, ""},
    {"tx_abort",         "RTM_RETIRED.ABORTED",                   "RTM_RETIRED:ABORTED",                   0x04c9,  all,  all, 0, ""},
    {"tx_conflict",      "TX_MEM.ABORT_CONFLICT",                 "TX_MEM:ABORT_CONFLICT",                 0x0154,  all,  0, IXP, signalled},
    {"tx_capacity",      "TX_MEM.ABORT_CAPACITY_WRITE",           "TX_MEM:ABORT_CAPACITY_WRITE",           0x0254,  H,    0,   0, write_named},
    {"tx_capacity",      "TX_MEM.ABORT_CAPACITY_WRITE",           "TX_MEM:ABORT_CAPACITY",                 0x0254,  B,    0,   0, write_named},
    {"tx_capacity",      "TX_MEM.ABORT_CAPACITY",                 "TX_MEM:ABORT_CAPACITY",                 0x0254,  S,    0,   0, unsplit},
    {"tx_capacity_read", "TX_MEM.ABORT_CAPACITY_READ",            "TX_MEM:ABORT_CAPACITY_READ",            0x8054,  IXP,  0, IXP, speculative},
    {"tx_capacity_write","TX_MEM.ABORT_CAPACITY_WRITE",           "TX_MEM:ABORT_CAPACITY_WRITE",           0x0254,  IXP,  0, IXP, speculative},
    {"abort_mem",        "RTM_RETIRED.ABORTED_MISC1",             "RTM_RETIRED:ABORTED_MISC1",             0x08c9,  HB,   0,   0, categories},
    {"abort_mem",        "RTM_RETIRED.ABORTED_MEM",               "RTM_RETIRED:ABORTED_MEM",               0x08c9,  SIXP, 0,   0, categories},
    {"abort_timer",      "RTM_RETIRED.ABORTED_MISC2",             "RTM_RETIRED:ABORTED_MISC2",             0x10c9,  HB,   0,   0, categories},
    {"abort_timer",      "RTM_RETIRED.ABORTED_TIMER",             "RTM_RETIRED:ABORTED_TMR",               0x10c9,  S,    0,   0, categories},
    {"abort_unfriendly", "RTM_RETIRED.ABORTED_MISC3",             "RTM_RETIRED:ABORTED_MISC3",             0x20c9,  HB,   0,   0, categories},
    {"abort_unfriendly", "RTM_RETIRED.ABORTED_UNFRIENDLY",        "RTM_RETIRED:ABORTED_UNFRIENDLY",        0x20c9,  SIXP, 0,   0, categories},
    {"abort_memtype",    "RTM_RETIRED.ABORTED_MISC4",             "RTM_RETIRED:ABORTED_MISC4",             0x40c9,  H,    0,   0, "erratum HSD65: may count wrongly"},
    {"abort_memtype",    "RTM_RETIRED.ABORTED_MISC4",             "RTM_RETIRED:ABORTED_MISC4",             0x40c9,  B,    0,   0, categories},
    {"abort_memtype",    "RTM_RETIRED.ABORTED_MEMTYPE",           "RTM_RETIRED:ABORTED_MEMTYPE",           0x40c9,  SIXP, 0,   0, categories},
    {"abort_events",     "RTM_RETIRED.ABORTED_MISC5",             "RTM_RETIRED:ABORTED_MISC5",             0x80c9,  HB,   0,   0, categories},
    {"abort_events",     "RTM_RETIRED.ABORTED_EVENTS",            "RTM_RETIRED:ABORTED_EVENTS",            0x80c9,  SIXP, 0,   0, categories},
    {"tx_nest_overflow", "TX_EXEC.MISC3",                         "TX_EXEC:MISC3",                         0x045d,  HBSI | X, 0, 0, "nesting deeper than the CPU keeps count of (7)"},
    {"cycles",           "CPU_CLK_UNHALTED.THREAD",               "CPU_CLK_UNHALTED:THREAD_P",             0x003c,  all,  0,   0, "opened as the generic hardware event: it has a fixed counter"},
    {"cycles_t",         "CPU_CLK_UNHALTED.THREAD:in_tx",         "CPU_CLK_UNHALTED:THREAD_P:intx=1",      in_tx | 0x3c, all, 0, 0, "only where the kernel offers format/in_tx"},
    {"cycles_ct",        "CPU_CLK_UNHALTED.THREAD:in_tx:in_tx_cp","CPU_CLK_UNHALTED:THREAD_P:intx=1:intxcp=1", in_tx | in_tx_checkpointed | 0x3c, all, 0, 0, "general counter 2 only: one such event at a time"},
    // Events that no column is computed from: executed instructions and hardware lock elision.
    {"",                 "TX_EXEC.MISC1",                         "TX_EXEC:MISC1",                         0x015d,  HBS,  0,   0, executions},
    {"",                 "TX_EXEC.MISC2",                         "TX_EXEC:MISC2",                         0x025d,  HBSI | X, 0, 0, "VZEROUPPER in a region"},
    {"",                 "TX_EXEC.MISC4",                         "TX_EXEC:MISC4",                         0x085d,  HBS,  0,   0, "XBEGIN inside an HLE region"},
    {"",                 "TX_EXEC.MISC5",                         "TX_EXEC:MISC5",                         0x105d,  HBS,  0,   0, "XACQUIRE inside an RTM region"},
    {"",                 "TX_MEM.ABORT_HLE_STORE_TO_ELIDED_LOCK", "TX_MEM:ABORT_HLE_STORE_TO_ELIDED_LOCK", 0x0454,  HBSI, 0,   I, ""},
    {"",                 "TX_MEM.ABORT_HLE_ELISION_BUFFER_NOT_EMPTY", "TX_MEM:ABORT_HLE_ELISION_BUFFER_NOT_EMPTY", 0x0854, HBSI, 0, I, ""},
    {"",                 "TX_MEM.ABORT_HLE_ELISION_BUFFER_MISMATCH", "TX_MEM:ABORT_HLE_ELISION_BUFFER_MISMATCH", 0x1054, HBSI, 0, I, ""},
    {"",                 "TX_MEM.ABORT_HLE_ELISION_BUFFER_UNSUPPORTED_ALIGNMENT", "TX_MEM:ABORT_HLE_ELISION_BUFFER_UNSUPPORTED_ALIGNMENT", 0x2054, HBSI, 0, I, ""},
    {"",                 "TX_MEM.HLE_ELISION_BUFFER_FULL",        "TX_MEM:ABORT_HLE_ELISION_BUFFER_FULL",  0x4054,  HBS,  0,   0, ""},
    {"",                 "TX_MEM.HLE_ELISION_BUFFER_FULL",        "TX_MEM:HLE_ELISION_BUFFER_FULL",        0x4054,  I,    0,   I, ""},
    {"",                 "HLE_RETIRED.START",                     "HLE_RETIRED:START",                     0x01c8,  HBSI, 0,   0, ""},
    {"",                 "HLE_RETIRED.COMMIT",                    "HLE_RETIRED:COMMIT",                    0x02c8,  HBSI, 0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED",                   "HLE_RETIRED:ABORTED",                   0x04c8,  HBSI, HBS, 0, ""},
    {"",                 "HLE_RETIRED.ABORTED_MISC1",             "HLE_RETIRED:ABORTED_MISC1",             0x08c8,  HB,   0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_MEM",               "HLE_RETIRED:ABORTED_MEM",               0x08c8,  SI,   0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_MISC2",             "HLE_RETIRED:ABORTED_MISC2",             0x10c8,  HB,   0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_TIMER",             "HLE_RETIRED:ABORTED_TMR",               0x10c8,  S,    0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_MISC3",             "HLE_RETIRED:ABORTED_MISC3",             0x20c8,  HB,   0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_UNFRIENDLY",        "HLE_RETIRED:ABORTED_UNFRIENDLY",        0x20c8,  SI,   0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_MISC4",             "HLE_RETIRED:ABORTED_MISC4",             0x40c8,  H,    0,   0, "erratum HSD65: may count wrongly"},
    {"",                 "HLE_RETIRED.ABORTED_MISC4",             "HLE_RETIRED:ABORTED_MISC4",             0x40c8,  B,    0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_MEMTYPE",           "HLE_RETIRED:ABORTED_MEMTYPE",           0x40c8,  S,    0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_MISC5",             "HLE_RETIRED:ABORTED_MISC5",             0x80c8,  HB,   0,   0, ""},
    {"",                 "HLE_RETIRED.ABORTED_EVENTS",            "HLE_RETIRED:ABORTED_EVENTS",            0x80c8,  SI,   0,   0, ""},
}};
// clang-format on

}  // namespace

std::span<const Event> event_table() {
    return table;
}

std::vector<const Event*> events_of(EventGroup group) {
    std::vector<const Event*> events;
    for (const Event& event : table) {
        if (event.in(group)) events.push_back(&event);
    }
    return events;
}

const Event* event_for(Counter counter, EventGroup group) {
    const auto* found = std::find_if(table.begin(), table.end(), [&](const Event& event) {
        return event.in(group) && event.logical == name_of(counter);
    });
    return found == table.end() ? nullptr : found;
}

std::uint32_t counters_for(const Event& event, EventGroup group, unsigned general_counters) {
    const std::uint32_t every = (std::uint32_t{1} << general_counters) - 1;
    if ((event.config & in_tx_checkpointed) != 0) return every & 0b100u;
    if ((event.low_counters & group) != 0) return every & 0b1111u;
    return every;
}

}  // namespace abortscope
