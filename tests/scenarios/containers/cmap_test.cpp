// SPDX-License-Identifier: Apache-2.0
#include "scenarios/containers/cmap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "machines/random.hpp"
#include "primitives/owned.hpp"
#include "tests/scenarios/test_machines.hpp"

namespace abortscope {
namespace {

template <class M>
class CmapTest : public ::testing::Test {
    MachineScope<M> machine_;

  protected:
    using Map = Cmap<M>;
    using Node = typename Map::Node;
    struct Element : Node {
        std::uint32_t value = 0;
    };

    static Element* with_value(Node* chain, std::uint32_t value) {
        for (Node* node = chain; node != nullptr; node = node->next.load()) {
            if (static_cast<Element*>(node)->value == value) return static_cast<Element*>(node);
        }
        return nullptr;
    }

    template <class Hash>
    static void expect_holds(const Map& map,
                             const std::unordered_map<std::uint32_t, Element*>& expected,
                             Hash hash) {
        EXPECT_EQ(map.count(), expected.size());
        for (const auto& [value, element] : expected) {
            EXPECT_EQ(with_value(map.find(hash(value)), value), element) << value;
        }
        std::unordered_set<std::uint32_t> seen;
        map.for_each([&](Node& node) {
            const std::uint32_t value = static_cast<Element&>(node).value;
            EXPECT_TRUE(expected.contains(value)) << value;
            EXPECT_TRUE(seen.insert(value).second) << value << " twice";
        });
        EXPECT_EQ(seen.size(), expected.size());
    }

    template <class Hash>
    static void expect_agrees_with_oracle(std::uint32_t count, unsigned steps, Hash hash) {
        auto elements = make_owned_array<M, Element>("element", count);
        auto map = make_owned<M, Map>("cmap", 1u);
        std::unordered_map<std::uint32_t, Element*> oracle;
        Random random(7);
        for (unsigned step = 0; step < steps; ++step) {
            const auto value = static_cast<std::uint32_t>(random.below(count));
            Element& element = elements.get()[value];
            if (Element* const found = with_value(map->find(hash(value)), value)) {
                ASSERT_EQ(found, &element);
                ASSERT_EQ(oracle.erase(value), 1u);
                ASSERT_TRUE(map->remove(element, hash(value)));
                ASSERT_FALSE(map->remove(element, hash(value)));
            } else {
                ASSERT_TRUE(oracle.emplace(value, &element).second);
                element.value = value;
                map->insert(element, hash(value));
            }
            if (step % (steps / 8) == 0) expect_holds(*map, oracle, hash);
        }
        expect_holds(*map, oracle, hash);
    }
};
TYPED_TEST_SUITE(CmapTest, TestMachines);

TYPED_TEST(CmapTest, AgreesWithAStandardMapOverRandomInsertionsAndRemovals) {
    this->expect_agrees_with_oracle(2000, 20000, [](std::uint32_t value) { return mix32(value); });
}

TYPED_TEST(CmapTest, ChainsElementsThatAllHaveTheSameHash) {
    this->expect_agrees_with_oracle(60, 2000, [](std::uint32_t) { return 123u; });
}

TYPED_TEST(CmapTest, HoldsUnmixedHashesAndTheHashZero) {
    this->expect_agrees_with_oracle(500, 5000, [](std::uint32_t value) { return value; });
}

TYPED_TEST(CmapTest, FindsBatchesOfEverySizeAsItFindsSingleElements) {
    using Fixture = CmapTest<TypeParam>;
    using MapNode = typename Fixture::Node;
    constexpr std::uint32_t count = 3000;
    auto elements = make_owned_array<TypeParam, typename Fixture::Element>("element", count);
    auto map = make_owned<TypeParam, typename Fixture::Map>("cmap", 1u);
    for (std::uint32_t i = 0; i < count; i += 2) {
        elements.get()[i].value = i;
        map->insert(elements.get()[i], mix32(i));
    }
    for (std::size_t size = 0; size <= Fixture::Map::max_batch; ++size) {
        std::vector<std::uint32_t> hashes(size);
        std::vector<MapNode*> nodes(size, nullptr);
        const auto first = static_cast<std::uint32_t>(size * 40);
        for (std::uint32_t i = 0; i < size; ++i) hashes[i] = mix32(first + i);
        const std::uint64_t found = map->find_batch(hashes, nodes);
        for (std::uint32_t i = 0; i < size; ++i) {
            EXPECT_EQ(found >> i & 1u, (first + i) % 2 == 0 ? 1u : 0u) << first + i;
            EXPECT_EQ(nodes[i], map->find(hashes[i])) << first + i;
        }
        if (size < Fixture::Map::max_batch) {
            EXPECT_EQ(found >> size, 0u) << "a bit beyond the batch";
        }
    }
}

TYPED_TEST(CmapTest, AVisitorMayEmptyTheMapWhileItHalves) {
    using Fixture = CmapTest<TypeParam>;
    constexpr std::uint32_t count = 5000;
    auto elements = make_owned_array<TypeParam, typename Fixture::Element>("element", count);
    auto map = make_owned<TypeParam, typename Fixture::Map>("cmap", 1u);
    for (std::uint32_t i = 0; i < count; ++i) {
        elements.get()[i].value = i;
        map->insert(elements.get()[i], mix32(i));
    }
    std::uint32_t visits = 0;
    map->for_each([&](typename Fixture::Node& node) {
        ++visits;
        const auto& element = static_cast<typename Fixture::Element&>(node);
        EXPECT_TRUE(map->remove(node, mix32(element.value)));
    });
    EXPECT_EQ(visits, count);
    EXPECT_EQ(map->count(), 0u);
    map->reclaim();
    map->for_each([](typename Fixture::Node&) { FAIL() << "the map is not empty"; });
    for (std::uint32_t i = 0; i < count; ++i) map->insert(elements.get()[i], mix32(i));
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_NE(map->find(mix32(i)), nullptr) << i;
}

// A path is only needed where both buckets are full: the fullest table before doubling.
TYPED_TEST(CmapTest, APathFreesASlotAndLosesNobody) {
    using Table = CmapTable<TypeParam>;
    using Fixture = CmapTest<TypeParam>;
    using MapNode = typename Fixture::Node;
    Table* const table = Table::create(63, 99, CountPlacement::beside_mask);
    constexpr std::uint32_t count = 64 * cmap_slots;
    auto nodes = make_owned_array<TypeParam, MapNode>("node", count);
    std::uint32_t placed = 0;
    unsigned paths = 0;
    for (; placed < count; ++placed) {
        const std::uint32_t hash = mix32(placed);
        MapNode* const node = nodes.get() + placed;
        const auto place = table->place_of(hash);
        auto* bucket = place.first;
        unsigned slot = bucket->free_slot();
        if (slot == cmap_slots) {
            bucket = place.second;
            slot = bucket->free_slot();
        }
        if (slot == cmap_slots) {
            CmapPath<TypeParam> path(*table);
            if (!path.search(place)) break;
            path.shift();
            bucket = path.start();
            slot = path.start_slot();
            EXPECT_TRUE(bucket == place.first || bucket == place.second);
            ++paths;
        }
        bucket->set(slot, node, hash);
    }
    EXPECT_GT(paths, 0u);
    EXPECT_GE(placed, count * 85 / 100) << "the load at which the map doubles is not reached";
    for (std::uint32_t i = 0; i < placed; ++i) {
        const auto place = table->place_of(mix32(i));
        MapNode* const in_first = place.first->find(mix32(i)).node;
        MapNode* const in_second = place.second->find(mix32(i)).node;
        EXPECT_TRUE(in_first == nodes.get() + i || in_second == nodes.get() + i) << i;
    }
    Table::destroy(table);
}

}  // namespace
}  // namespace abortscope
