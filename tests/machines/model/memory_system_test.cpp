// SPDX-License-Identifier: Apache-2.0
#include "machines/model/memory_system.hpp"

#include <gtest/gtest.h>

#include <array>

#include "machines/random.hpp"

namespace abortscope::model {
namespace {

constexpr LineId lines = 96;

/// Caches so small that every kind of line leaves them all the time.
Preset small(std::uint32_t l2_ways, std::uint32_t l3_inclusive) {
    Preset preset;
    preset.sockets = 2;
    preset.cores_per_socket = 2;
    preset.l1_sets = 4;
    preset.l1_ways = 4;
    preset.l2_sets = 8;
    preset.l2_ways = l2_ways;
    preset.l3_sets = 8;
    preset.l3_ways = 8;
    preset.l3_inclusive = l3_inclusive;
    preset.background_lines = 2;
    return preset;
}

/// Loads and writes of random lines by random cores.
class Traffic {
  public:
    explicit Traffic(const Preset& preset)
        : preset_(preset), directory_(lines), memory_(preset_, directory_) {}

    void step() {
        Core& core = memory_.core(static_cast<std::uint16_t>(random_.below(preset_.cores())));
        if (random_.below(4) == 0) memory_.use_background(core, 0);
        const auto line = static_cast<LineId>(random_.below(lines));
        constexpr std::array kinds{Access::load, Access::load, Access::store, Access::atomic};
        const Access access = kinds[random_.below(kinds.size())];
        if (random_.below(16) == 0) memory_.discard_from_l1(core, line);
        std::uint32_t slot = core.l1.tags.find(line);
        Cycles cost = 0;
        if (!core.l1.serves(line, access, slot)) {
            slot = memory_.acquire(core, 0, line, access, slot, now_, 0, cost, counts_);
        }
        now_ += cost;
        ASSERT_TRUE(core.l1.serves(line, access, slot));
        ASSERT_EQ(core.l1.tags.line_at(slot), line);
    }

    void check(std::uint16_t id, LineId line) {
        SCOPED_TRACE(testing::Message() << "core " << id << ", line " << line);
        Core& core = memory_.core(id);
        LineState& state = directory_[line];
        const std::uint32_t slot = core.l1.tags.find(line);
        const bool in_l1 = slot != TagArray::miss;
        const bool in_l2 = core.l2.find(line) != TagArray::miss;
        ASSERT_EQ(state.sharers.contains(id, directory_.pool()), in_l1 || in_l2);
        const SlotState carried = in_l1 ? core.l1.states[slot] : SlotState{0};
        const bool owned = state.owner_plus1 == id + 1;
        ASSERT_TRUE(owned || (carried & may_write) == 0);
        ASSERT_TRUE(!owned || state.sharers.size() == 1);
    }

    const Preset& preset() const { return preset_; }

  private:
    Preset preset_;
    Directory directory_;
    MemorySystem memory_;
    EventCounts counts_;
    Random random_{17};
    Cycles now_ = 0;
};

TEST(MemorySystem, TheDirectoryAgreesWithTheCachesWhateverLeavesThem) {
    for (const std::uint32_t l2_ways : {1u, 2u, 4u, 6u}) {
        for (const std::uint32_t l3_inclusive : {0u, 1u}) {
            SCOPED_TRACE(testing::Message() << l2_ways << " ways, inclusive: " << l3_inclusive);
            Traffic traffic(small(l2_ways, l3_inclusive));
            for (int step = 0; step < 4000; ++step) {
                traffic.step();
                for (std::uint16_t core = 0; core < traffic.preset().cores(); ++core) {
                    for (LineId line = 0; line < lines; ++line) {
                        traffic.check(core, line);
                        if (testing::Test::HasFatalFailure()) return;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace abortscope::model
