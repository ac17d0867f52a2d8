// SPDX-License-Identifier: Apache-2.0
#include "scenarios/containers/hmap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "machines/random.hpp"
#include "primitives/owned.hpp"
#include "scenarios/containers/hash.hpp"
#include "tests/scenarios/test_machines.hpp"

namespace abortscope {
namespace {

template <class M>
class HmapTest : public ::testing::Test {
    MachineScope<M> machine_;

  protected:
    using Map = Hmap<M>;
    struct Element : Map::Node {
        std::uint32_t value = 0;
    };

    static Element* find(const Map& map, std::uint32_t value, std::uint32_t hash) {
        return static_cast<Element*>(map.find(hash, [&](const typename Map::Node& node) {
            return static_cast<const Element&>(node).value == value;
        }));
    }

    /// The map holds exactly the values of `expected`, each once, by look-up and by iteration.
    template <class Hash>
    static void expect_holds(const Map& map,
                             const std::unordered_map<std::uint32_t, Element*>& expected,
                             Hash hash) {
        EXPECT_EQ(map.count(), expected.size());
        for (const auto& [value, element] : expected) {
            EXPECT_EQ(find(map, value, hash(value)), element) << value;
        }
        std::unordered_set<std::uint32_t> seen;
        map.for_each([&](typename Map::Node& node) {
            const std::uint32_t value = static_cast<Element&>(node).value;
            EXPECT_TRUE(expected.contains(value)) << value;
            EXPECT_TRUE(seen.insert(value).second) << value << " twice";
        });
        EXPECT_EQ(seen.size(), expected.size());
    }

    /// Random insertions and removals against std::unordered_map.
    template <class Hash>
    static void expect_agrees_with_oracle(std::uint32_t count, unsigned steps, Hash hash) {
        auto elements = make_owned_array<M, Element>("element", count);
        auto map = make_owned<M, Map>("hmap", CountPlacement::beside_mask);
        std::unordered_map<std::uint32_t, Element*> oracle;
        Random random(7);
        for (unsigned step = 0; step < steps; ++step) {
            const auto value = static_cast<std::uint32_t>(random.below(count));
            Element& element = elements.get()[value];
            if (Element* const found = find(*map, value, hash(value))) {
                ASSERT_EQ(found, &element);
                ASSERT_EQ(oracle.erase(value), 1u);
                ASSERT_TRUE(map->remove(element));
                ASSERT_FALSE(map->remove(element));
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
TYPED_TEST_SUITE(HmapTest, TestMachines);

TYPED_TEST(HmapTest, AgreesWithAStandardMapOverRandomInsertionsAndRemovals) {
    this->expect_agrees_with_oracle(2000, 20000, [](std::uint32_t value) { return mix32(value); });
}

TYPED_TEST(HmapTest, HoldsElementsThatAllHaveTheSameHash) {
    this->expect_agrees_with_oracle(60, 2000, [](std::uint32_t) { return 123u; });
}

TYPED_TEST(HmapTest, HoldsUnmixedHashes) {
    this->expect_agrees_with_oracle(500, 5000, [](std::uint32_t value) { return value; });
}

TYPED_TEST(HmapTest, AVisitorMayRemoveTheNodeThatItIsGiven) {
    using Fixture = HmapTest<TypeParam>;
    auto elements = make_owned_array<TypeParam, typename Fixture::Element>("element", 1000);
    auto map =
        make_owned<TypeParam, typename Fixture::Map>("hmap", CountPlacement::line_of_its_own);
    for (std::uint32_t i = 0; i < 1000; ++i) {
        elements.get()[i].value = i;
        map->insert(elements.get()[i], mix32(i));
    }
    unsigned visits = 0;
    map->for_each([&](typename Fixture::Map::Node& node) {
        ++visits;
        map->remove(node);
    });
    EXPECT_EQ(visits, 1000u);
    EXPECT_EQ(map->count(), 0u);
    map->for_each([](typename Fixture::Map::Node&) { FAIL() << "the map is not empty"; });
}

}  // namespace
}  // namespace abortscope
