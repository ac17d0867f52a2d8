// SPDX-License-Identifier: Apache-2.0
//
// The scenario `ovs-cmap`: a concurrent cuckoo map whose readers take no lock, its writers one
// global mutex.
//
//   phase    | workers | what each does
//   ---------+---------+---------------------------------------------------------------------------
//   insert   | one     | inserts elements 0 .. n-1, no lock
//   iterate  | one     | visits every element, no lock
//   search   | all     | for every key in order: with chance mutation_pct removes it under the
//            |         | mutex, otherwise looks it up without a lock
//   destroy  | one     | removes what is left, no lock
//
// Unless batch is 0, the same four phases run first on a map of their own, with a search that
// gathers up to `batch` keys for one batched look-up. The gathering stops early where the draw says
// "mutate"; that key is then removed under the mutex, and stays the next one to be drawn for. (At
// mutation_pct 100 that would never end: the batched phases are left out.)
//
// After each search: no element lost, none twice, exactly the removed keys gone.
//
// Source: section "cmap" of `ovstest test-cmap benchmark`; elements lie in one array, as there.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "primitives/owned.hpp"
#include "profiler/scenario.hpp"
#include "scenarios/containers/cmap.hpp"
#include "scenarios/map_benchmark.hpp"
#include "scenarios/removal_ledger.hpp"

namespace abortscope {

/// `Lock` has lock and unlock.
template <Machine M, class Lock>
class OvsCmap final : public Scenario {
  public:
    /// The steps of a block; phase = 4 * block + step, block 0 being the batched one.
    enum Step : std::size_t { insert, iterate, search, destroy };
    static constexpr std::size_t steps = 4;

    OvsCmap(const TrialSpec& spec, Owned<M, Lock> lock)
        : spec_(spec),
          n_(static_cast<std::uint32_t>(spec.value("n"))),
          batch_(static_cast<std::uint32_t>(spec.value("batch"))),
          mutates_(spec.value("mutation_pct") > 0),
          batches_(batch_ > 0 && spec.value("mutation_pct") < 100),
          lock_(std::move(lock)),
          map_(make_owned<M, Map>("cmap", spec.seed, count_placement_of(spec))),
          elements_(make_owned_array<M, Element>("node", n_)),
          removals_(spec.threads, n_) {}

    bool has_phase(std::size_t phase) const override { return phase >= steps || batches_; }

    std::uint64_t run(std::size_t phase, unsigned worker) override {
        switch (phase % steps) {
            case insert:
                return insert_all();
            case iterate:
                return visited_ = visit_all();
            case search:
                return phase < steps ? search_batches(worker) : search_all(worker);
            default:
                return remove_all();
        }
    }

    void check(std::size_t phase) override {
        const std::size_t step = phase % steps;
        if (step == iterate && visited_ != n_) {
            throw CheckFailed("the iteration did not visit every element");
        }
        if (step == search) {
            removals_.check(keys_in_map());
            removals_.clear();
        }
        if (step == destroy) {
            if (map_->count() != 0 || !keys_in_map().empty()) {
                throw CheckFailed("the map is not empty after its elements were removed");
            }
            map_ = make_owned<M, Map>("cmap", spec_.seed, count_placement_of(spec_));
        }
    }

  private:
    using Map = Cmap<M>;
    using Node = typename Map::Node;

    struct Element : Node {
        typename M::template Cell<std::uint32_t> value{};
    };

    std::uint64_t insert_all() {
        for (std::uint32_t key = 0; key < n_; ++key) {
            Element& element = elements_.get()[key];
            element.value = key;
            map_->insert(element, hash_int<M>(key, 0));
        }
        return n_;
    }

    std::uint64_t visit_all() const {
        std::uint64_t visits = 0;
        map_->for_each([&](Node&) { ++visits; });
        return visits;
    }

    std::uint64_t search_all(unsigned worker) {
        MutationDraw<M> mutates(spec_, worker);
        for (std::uint32_t key = 0; key < n_; ++key) {
            if (mutates_ && mutates.next()) {
                remove_locked(worker, key);
            } else {
                M::site("look-up");
                (void)find(key);
            }
        }
        return n_;
    }

    std::uint64_t search_batches(unsigned worker) {
        MutationDraw<M> mutates(spec_, worker);
        std::array<std::uint32_t, Map::max_batch> hashes;
        std::array<Node*, Map::max_batch> chains;
        for (std::uint32_t key = 0; key < n_;) {
            const std::uint32_t wanted = std::min(batch_, n_ - key);
            std::uint32_t gathered = 0;
            while (gathered < wanted && !(mutates_ && mutates.next())) {
                hashes[gathered] = hash_int<M>(key + gathered, 0);
                ++gathered;
            }
            look_up(key, std::span(hashes).first(gathered), chains);
            key += gathered;
            if (gathered < wanted) remove_locked(worker, key);
        }
        return n_;
    }

    /// Keys first, first + 1, ... in one batched look-up, each chain searched for its value.
    void look_up(std::uint32_t first, std::span<const std::uint32_t> hashes,
                 std::span<Node*> chains) const {
        M::site("batched look-up");
        std::uint64_t found = map_->find_batch(hashes, chains);
        for (; found != 0; found &= found - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(found));
            (void)with_value(chains[i], first + i);
        }
    }

    void remove_locked(unsigned worker, std::uint32_t key) {
        M::site("removal");
        lock_->lock();
        Node* const node = find(key);
        const bool removed = node != nullptr && map_->remove(*node, hash_int<M>(key, 0));
        lock_->unlock();
        if (removed) removals_.record(worker, key);
    }

    std::uint64_t remove_all() {
        std::uint64_t removals = 0;
        map_->for_each([&](Node& node) {
            const std::uint32_t key = static_cast<Element&>(node).value;
            map_->remove(node, hash_int<M>(key, 0));
            ++removals;
        });
        return removals;
    }

    Node* find(std::uint32_t key) const { return with_value(map_->find(hash_int<M>(key, 0)), key); }

    static Node* with_value(Node* chain, std::uint32_t key) {
        Node* node = chain;
        while (node != nullptr && static_cast<Element*>(node)->value != key) {
            node = node->next.load(std::memory_order_acquire);
        }
        return node;
    }

    std::vector<std::uint32_t> keys_in_map() const {
        std::vector<std::uint32_t> keys;
        map_->for_each([&](Node& node) { keys.push_back(static_cast<Element&>(node).value); });
        return keys;
    }

    const TrialSpec spec_;
    const std::uint32_t n_;
    const std::uint32_t batch_;
    const bool mutates_;
    const bool batches_;
    Owned<M, Lock> lock_;
    Owned<M, Map> map_;
    Owned<M, Element> elements_;
    RemovalLedger removals_;
    std::uint64_t visited_ = 0;  ///< by the iteration; written outside any transaction
};

}  // namespace abortscope
