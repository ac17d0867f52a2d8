// SPDX-License-Identifier: Apache-2.0
//
// The scenario `ovs-hmap`: a chained hash map under a fat reader-writer lock.
//
//   phase    | workers | what each does
//   ---------+---------+---------------------------------------------------------------------------
//   insert   | one     | inserts elements 0 .. n-1, no lock
//   iterate  | one     | visits every element, no lock
//   search   | all     | for every key in order: with chance mutation_pct removes it under the
//            |         | write lock, else looks it up under the read lock; at 0 % without a lock
//   destroy  | one     | removes what is left, no lock
//
// Only the search differs between locks and policies. A key is removed at most once and none comes
// back, so removals thin out the map, not the work: each worker does n searches.
//
// After the search: no element lost, none twice, exactly the removed keys gone.
//
// Source: section "hmap" of `ovstest test-cmap benchmark`; elements lie in one array, as there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "primitives/owned.hpp"
#include "profiler/scenario.hpp"
#include "scenarios/containers/hash.hpp"
#include "scenarios/containers/hmap.hpp"
#include "scenarios/map_benchmark.hpp"
#include "scenarios/removal_ledger.hpp"

namespace abortscope {

/// `Lock` has lock, unlock, lock_shared, unlock_shared.
template <Machine M, class Lock>
class OvsHmap final : public Scenario {
  public:
    enum Phase : std::size_t { insert, iterate, search, destroy };

    OvsHmap(const TrialSpec& spec, Owned<M, Lock> lock)
        : spec_(spec),
          n_(static_cast<std::uint32_t>(spec.value("n"))),
          mutates_(spec.value("mutation_pct") > 0),
          lock_(std::move(lock)),
          map_(make_owned<M, Map>("hmap", count_placement_of(spec))),
          elements_(make_owned_array<M, Element>("node", n_)),
          removals_(spec.threads, n_) {}

    std::uint64_t run(std::size_t phase, unsigned worker) override {
        switch (phase) {
            case insert:
                return insert_all();
            case iterate:
                return visited_ = visit_all();
            case search:
                return search_all(worker);
            default:
                return remove_all();
        }
    }

    void check(std::size_t phase) override {
        if (phase == iterate && visited_ != n_) {
            throw CheckFailed("the iteration did not visit every element");
        }
        if (phase == search) removals_.check(keys_in_map());
        if (phase == destroy && (map_->count() != 0 || !keys_in_map().empty())) {
            throw CheckFailed("the map is not empty after its elements were removed");
        }
    }

  private:
    using Map = Hmap<M>;
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
        if (!mutates_) {
            for (std::uint32_t key = 0; key < n_; ++key) (void)find(key);
            return n_;
        }
        MutationDraw<M> mutates(spec_, worker);
        for (std::uint32_t key = 0; key < n_; ++key) {
            if (mutates.next()) {
                if (remove_locked(key)) removals_.record(worker, key);
            } else {
                M::site("look-up");
                lock_->lock_shared();
                (void)find(key);
                lock_->unlock_shared();
            }
        }
        return n_;
    }

    bool remove_locked(std::uint32_t key) {
        M::site("removal");
        lock_->lock();
        Node* const node = find(key);
        const bool removed = node != nullptr && map_->remove(*node);
        lock_->unlock();
        return removed;
    }

    std::uint64_t remove_all() {
        std::uint64_t removals = 0;
        map_->for_each([&](Node& node) {
            map_->remove(node);
            ++removals;
        });
        return removals;
    }

    Node* find(std::uint32_t key) const {
        return map_->find(hash_int<M>(key, 0), [key](const Node& node) {
            return static_cast<const Element&>(node).value == key;
        });
    }

    std::vector<std::uint32_t> keys_in_map() const {
        std::vector<std::uint32_t> keys;
        map_->for_each([&](Node& node) { keys.push_back(static_cast<Element&>(node).value); });
        return keys;
    }

    const TrialSpec spec_;
    const std::uint32_t n_;
    const bool mutates_;
    Owned<M, Lock> lock_;
    Owned<M, Map> map_;
    Owned<M, Element> elements_;
    RemovalLedger removals_;
    std::uint64_t visited_ = 0;  ///< by the iteration; written outside any transaction
};

}  // namespace abortscope
