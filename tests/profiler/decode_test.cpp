// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace abortscope {
namespace {

using rtm::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Decode, WordsAreHexadecimalOrDecimalAndNothingElse) {
    EXPECT_EQ(parse_word("6"), 6u);
    EXPECT_EQ(parse_word("0x6"), 6u);
    EXPECT_EQ(parse_word("0XFF000001"), 0xff000001u);
    EXPECT_EQ(parse_word("4278190081"), 0xff000001u);
    EXPECT_EQ(parse_word("18446744073709551615"), ~std::uint64_t{0});
    for (const char* text : {"", "0x", "6a", "-1", "0x1g", " 6", "6 ", "18446744073709551616"}) {
        EXPECT_EQ(parse_word(text), std::nullopt) << text;
    }
}

// Acceptance case A4.
TEST(Decode, ShowsEverySetBitAndTheOneCause) {
    const std::string text = explain_status(Status{0x2e});
    EXPECT_THAT(text, HasSubstr("0x0000002e  cause capacity: retry|conflict|capacity|nested"));
    EXPECT_THAT(text, HasSubstr("bit 1 retry"));
    EXPECT_THAT(text, HasSubstr("bit 2 conflict"));
    EXPECT_THAT(text, HasSubstr("bit 3 capacity"));
    EXPECT_THAT(text, HasSubstr("bit 5 nested"));
    EXPECT_THAT(text, Not(HasSubstr("bit 0")));
    EXPECT_THAT(text, HasSubstr("what to do"));
}

TEST(Decode, ConventionalCodesHaveAMeaningAndOthersAreTheProgramsOwn) {
    EXPECT_THAT(explain_status(Status::explicit_abort(0xff)), HasSubstr("cause lock_busy"));
    EXPECT_THAT(explain_status(Status::explicit_abort(0xff)), HasSubstr("lock busy"));
    EXPECT_THAT(explain_status(Status::explicit_abort(0xfe)), HasSubstr("state query"));
    EXPECT_THAT(explain_status(Status::explicit_abort(0xfd)), HasSubstr("nested trylock"));
    EXPECT_THAT(explain_status(Status::explicit_abort(0xfc)), HasSubstr("ordering"));
    EXPECT_THAT(explain_status(Status::explicit_abort(0x07)), HasSubstr("the program's own"));
}

TEST(Decode, ACodeWithoutTheExplicitBitMeansNothing) {
    EXPECT_THAT(explain_status(Status{0xff000008}), HasSubstr("means nothing without bit 0"));
    EXPECT_THAT(explain_status(Status{0xff000008}), HasSubstr("cause capacity"));
}

// Acceptance case A5.
TEST(Decode, StatusZeroIsASystemCallFaultInterruptOrForbiddenInstruction) {
    EXPECT_THAT(explain_status(Status::unspecified()),
                HasSubstr("a system call, fault, interrupt or forbidden instruction"));
}

TEST(Decode, ReservedBitsRaiseADoubtAndStartedIsNoAbort) {
    EXPECT_THAT(explain_status(Status{0x1000}), HasSubstr("reserved"));
    EXPECT_THAT(explain_status(Status::started()), HasSubstr("no abort"));
}

TEST(Decode, ALogsCausesAddUpWhereItsBitsDoNot) {
    StatusLog log;
    for (int i = 0; i < 3; ++i) log.add(Status{0x6});
    log.add(Status{0xe});
    log.add(Status::explicit_abort(0xff));
    EXPECT_EQ(log.size(), 5u);
    const std::string text = log.text();
    EXPECT_THAT(text, HasSubstr("5 aborts. By cause (these add up): conflict 3 capacity 1 "
                                "lock_busy 1"));
    EXPECT_THAT(text, HasSubstr("explicit 1 retry 4 conflict 4 capacity 1"));
    EXPECT_LT(text.find("0x00000006"), text.find("0x0000000e")) << "the most frequent first";
}

// Acceptance case A2.
TEST(Decode, ALogOfNothingButZeroIsNamedForWhatItIs) {
    StatusLog zeros;
    for (int i = 0; i < 100; ++i) zeros.add(Status{0});
    EXPECT_THAT(zeros.text(), HasSubstr("Every status is 0: RTM is forced off"));
    zeros.add(Status{0x6});
    EXPECT_THAT(zeros.text(), Not(HasSubstr("forced off")));
}

TEST(Decode, LinesOfALogGiveTheirHexadecimalNumbersOrTheirOnlyOne) {
    EXPECT_THAT(words_in("[17:03] thread 4: abort status=0x6, retry 2 of 0x8"), ElementsAre(6, 8));
    EXPECT_THAT(words_in("  6\r"), ElementsAre(6));
    EXPECT_THAT(words_in("6 aborts"), IsEmpty()) << "which of the numbers is a status?";
    EXPECT_THAT(words_in("nothing here"), IsEmpty());
    EXPECT_THAT(words_in(""), IsEmpty());
}

TEST(DecodePerfTxn, FlagsAreSpelledAsPerfReportSpellsThem) {
    EXPECT_THAT(explain_transaction_flags(0x2a), HasSubstr("cause conflict: TX ASYNC CON\n"));
    EXPECT_THAT(explain_transaction_flags(0x46), HasSubstr("cause capacity: TX SYNC CAP-WRITE\n"));
    EXPECT_THAT(explain_transaction_flags(0x8a), HasSubstr("cause capacity: TX ASYNC CAP-READ\n"));
    EXPECT_THAT(explain_transaction_flags(0x15), HasSubstr("EL SYNC RETRY\n"));
    EXPECT_THAT(explain_transaction_flags(0x02), HasSubstr("cause other: TX NEITHER\n"));
    EXPECT_THAT(explain_transaction_flags(0), HasSubstr("cause other: NEITHER\n"));
}

TEST(DecodePerfTxn, TheCodeIsInTheUpperHalf) {
    const std::string busy = explain_transaction_flags(0xff'0000'0006);
    EXPECT_THAT(busy, HasSubstr("cause lock_busy: TX SYNC :ff"));
    EXPECT_THAT(busy, HasSubstr("XABORT code: lock busy"));
    EXPECT_THAT(explain_transaction_flags(0x7'0000'0006), HasSubstr("cause explicit"));
    EXPECT_THAT(explain_transaction_flags(0x100'0000'0006), HasSubstr("beyond the eight bits"));
}

}  // namespace
}  // namespace abortscope
