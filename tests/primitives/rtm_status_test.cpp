// SPDX-License-Identifier: Apache-2.0
#include "primitives/rtm_status.hpp"

#include <gtest/gtest.h>

namespace abortscope::rtm {
namespace {

static_assert(cause_of(Status::conflict()) == Cause::conflict);
static_assert(cause_of(Status::unspecified()) == Cause::other);
static_assert(cause_of(Status::explicit_abort(code::lock_busy)) == Cause::lock_busy);

// The precedence of contracts.md, written a second time as an if-chain, over every combination of
// the six bits and every XABORT code (acceptance case A4).
Cause expected_cause(std::uint32_t word) {
    const bool is_explicit = (word & 0x01) != 0;
    if (is_explicit && word >> 24 == 0xff) return Cause::lock_busy;
    if (is_explicit) return Cause::explicit_abort;
    if ((word & 0x08) != 0) return Cause::capacity;
    if ((word & 0x04) != 0) return Cause::conflict;
    if ((word & 0x10) != 0) return Cause::debug;
    if ((word & 0x20) != 0) return Cause::nested;
    return Cause::other;
}

TEST(RtmStatus, EveryCombinationOfBitsAndCodesHasTheDocumentedCause) {
    for (std::uint32_t code = 0; code < 256; ++code) {
        for (std::uint32_t bits = 0; bits < 64; ++bits) {
            const std::uint32_t word = code << 24 | bits;
            EXPECT_EQ(cause_of(Status{word}), expected_cause(word)) << std::hex << word;
        }
    }
}

TEST(RtmStatus, ReservedBitsDoNotChangeTheCause) {
    for (std::uint32_t bits = 0; bits < 64; ++bits) {
        EXPECT_EQ(cause_of(Status{bits | 0x00ffffc0}), cause_of(Status{bits}));
    }
}

TEST(RtmStatus, AnExplicitAbortCarriesItsCode) {
    const Status status = Status::explicit_abort(0xfd);
    EXPECT_EQ(status.word(), 0xfd000001u);
    EXPECT_EQ(status.xabort_code(), 0xfd);
    EXPECT_FALSE(status.has(StatusBit::retry));
}

TEST(RtmStatus, NestedIsAddedToAnyStatus) {
    EXPECT_EQ(Status::unspecified().with_nested().word(), 0x20u);
    EXPECT_EQ(Status::conflict().with_nested().word(), 0x26u);
    EXPECT_EQ(cause_of(Status::unspecified().with_nested()), Cause::nested);
    EXPECT_EQ(cause_of(Status::conflict().with_nested()), Cause::conflict);
}

TEST(RtmStatus, StartedIsNoStatusOfAnAbort) {
    EXPECT_TRUE(Status::started().is_started());
    EXPECT_FALSE(Status::unspecified().is_started());
}

}  // namespace
}  // namespace abortscope::rtm
