// SPDX-License-Identifier: Apache-2.0
//
// Readers without a lock beside one writer, on native threads; ThreadSanitizer watches.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "machines/native/native_machine.hpp"
#include "machines/native/team.hpp"
#include "machines/random.hpp"
#include "primitives/owned.hpp"
#include "scenarios/containers/cmap.hpp"

namespace abortscope {
namespace {

using M = native::NativeMachine;
using Map = Cmap<M>;

struct Element : Map::Node {
    std::uint32_t value = 0;
};

constexpr std::uint32_t stable_count = 200;     // always in the map
constexpr std::uint32_t changing_count = 1000;  // come and go: doublings, halvings, displacements

class CmapReaders : public ::testing::Test {
  protected:
    CmapReaders() {
        for (std::uint32_t i = 0; i < stable_count + changing_count; ++i) element(i).value = i;
        for (std::uint32_t i = 0; i < stable_count; ++i) map_->insert(element(i), mix32(i));
    }

    Element& element(std::uint32_t i) { return elements_.get()[i]; }

    void write() {
        for (unsigned round = 0; round < 100; ++round) {
            for (std::uint32_t i = stable_count; i < stable_count + changing_count; ++i) {
                map_->insert(element(i), mix32(i));
            }
            for (std::uint32_t i = stable_count; i < stable_count + changing_count; ++i) {
                map_->remove(element(i), mix32(i));
            }
        }
        done_.store(true, std::memory_order_release);
    }

    Owned<M, Element> elements_ =
        make_owned_array<M, Element>("element", stable_count + changing_count);
    Owned<M, Map> map_ = make_owned<M, Map>("cmap", 5u);
    std::atomic<bool> done_{false};
};

TEST_F(CmapReaders, FindWhatStaysAndNeverAnotherElement) {
    std::array<std::atomic<std::uint64_t>, 4> lost{};
    std::array<std::atomic<std::uint64_t>, 4> wrong{};
    native::Team team(4, {});
    team.run(4, [&](unsigned worker) {
        if (worker == 0) return write();
        Random random(worker);
        do {
            const auto i = static_cast<std::uint32_t>(random.below(stable_count + changing_count));
            const Map::Node* const node = map_->find(mix32(i));
            if (node == nullptr && i < stable_count) ++lost[worker];
            if (node != nullptr && static_cast<const Element*>(node)->value != i) ++wrong[worker];
        } while (!done_.load(std::memory_order_acquire));
    });
    for (unsigned worker = 0; worker < 4; ++worker) {
        EXPECT_EQ(lost[worker].load(), 0u);
        EXPECT_EQ(wrong[worker].load(), 0u);
    }
}

TEST_F(CmapReaders, FindBatchesWhileTheMapChanges) {
    std::array<std::atomic<std::uint64_t>, 3> lost{};
    native::Team team(3, {});
    team.run(3, [&](unsigned worker) {
        if (worker == 0) return write();
        Random random(worker);
        std::array<std::uint32_t, 16> hashes;
        std::array<Map::Node*, 16> nodes;
        do {
            const auto first = static_cast<std::uint32_t>(random.below(stable_count - 16));
            for (std::uint32_t i = 0; i < 16; ++i) hashes[i] = mix32(first + i);
            if (map_->find_batch(hashes, nodes) != 0xffff) ++lost[worker];
        } while (!done_.load(std::memory_order_acquire));
    });
    EXPECT_EQ(lost[1].load() + lost[2].load(), 0u);
}

}  // namespace
}  // namespace abortscope
