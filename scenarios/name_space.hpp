// SPDX-License-Identifier: Apache-2.0
//
// The shared part of a file system's name space: a hash of names, counted references to the
// directories that all paths go through, and one list of all files.
//
//   structure         | lock (all of the kind under test)   | who meets there
//   ------------------+-------------------------------------+------------------------------------
//   a directory       | its own, around its reference count | all whose path goes through it
//   hash bucket       | its own                             | names that hash alike
//   list of all files | one                                 | every creation and deletion
//   renaming          | one                                 | every rename
//
// The check: the hash holds exactly the given names, as many files are listed, every reference has
// been given back, and no lock let anybody in beside its owner.
//
// Source: Linux fs/dcache.c and fs/inode.c of 3.11 (facts): a path walk takes and drops a reference
// on each directory under its d_lock, and inodes are on the super block's one list.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"
#include "scenarios/containers/hash.hpp"
#include "scenarios/exclusion_check.hpp"
#include "scenarios/work.hpp"

namespace abortscope {

template <Machine M, class Source>
class NameSpace {
    template <class T>
    using Cell = typename M::template Cell<T>;
    using Lock = typename Source::Lock;

  public:
    /// A file's entry in the hash; its owner keeps it while it is there.
    struct alignas(64) Entry {
        Cell<Entry*> next{};
        Cell<std::uint32_t> name{};
    };

    /// What one worker saw of each kind of lock.
    struct Witnesses {
        ExclusionWitness root;
        ExclusionWitness files;
        ExclusionWitness renames;
    };

    NameSpace(const Source& locks, std::uint32_t buckets, std::uint64_t hold_cycles)
        : hold_cycles_(hold_cycles),
          root_(locks, "root directory"),
          files_(locks, "list of files"),
          renames_(locks, "renames") {
        for (std::uint32_t i = 0; i < buckets; ++i) {
            buckets_.push_back({locks.make("bucket lock"), make_owned<M, Head>("bucket")});
        }
    }

    /// Takes and gives back a reference on the directory that every path goes through.
    void walk(Witnesses& own) {
        change(root_, own.root, +1);
        work<M>(hold_cycles_);
        change(root_, own.root, -1);
    }

    bool contains(std::uint32_t name) {
        Bucket& bucket = bucket_of(name);
        bucket.lock->lock();
        const Entry* entry = bucket.head->first;
        while (entry != nullptr && entry->name != name) entry = entry->next;
        bucket.lock->unlock();
        return entry != nullptr;
    }

    /// `entry` gets that name, which no other has.
    void create(Entry& entry, std::uint32_t name, Witnesses& own) {
        insert(entry, name);
        change(files_, own.files, +1);
    }

    /// False if the name of `entry` is not in the hash.
    bool remove(Entry& entry, Witnesses& own) {
        if (!erase(entry)) return false;
        change(files_, own.files, -1);
        return true;
    }

    bool rename(Entry& entry, std::uint32_t name, Witnesses& own) {
        renames_.lock->lock();
        renames_.state->exclusion.enter_exclusive(own.renames);
        const bool erased = erase(entry);
        if (erased) insert(entry, name);
        renames_.state->exclusion.exit_exclusive(own.renames);
        renames_.lock->unlock();
        return erased;
    }

    /// On the host, when nobody uses it. Throws CheckFailed.
    void check(const std::set<std::uint32_t>& names,
               const std::vector<Witnesses>& witnesses) const {
        std::set<std::uint32_t> found;
        for (const Bucket& bucket : buckets_) {
            for (const Entry* entry = bucket.head->first; entry != nullptr; entry = entry->next) {
                if (!found.insert(entry->name).second) {
                    throw CheckFailed("a name is in the hash twice");
                }
            }
        }
        if (found != names) {
            throw CheckFailed("the hash holds " + std::to_string(found.size()) + " names, " +
                              std::to_string(names.size()) + " were created and not removed");
        }
        require_count(files_, names.size(), "files are listed");
        require_count(root_, 0, "references are still held");
        require_all_excluded(root_, &Witnesses::root, witnesses);
        require_all_excluded(files_, &Witnesses::files, witnesses);
        require_all_excluded(renames_, &Witnesses::renames, witnesses);
    }

  private:
    struct alignas(64) Counted {
        Cell<std::uint64_t> count{};
        ExclusionCheck<M> exclusion;
    };
    struct LockedCount {
        LockedCount(const Source& locks, std::string_view name)
            : lock(locks.make(name)), state(make_owned<M, Counted>(name)) {}
        Owned<M, Lock> lock;
        Owned<M, Counted> state;
    };
    struct alignas(64) Head {
        Cell<Entry*> first{};
    };
    struct Bucket {
        Owned<M, Lock> lock;
        Owned<M, Head> head;
    };

    Bucket& bucket_of(std::uint32_t name) { return buckets_[mix32(name) % buckets_.size()]; }

    static void change(LockedCount& counted, ExclusionWitness& own, int by) {
        counted.lock->lock();
        counted.state->exclusion.enter_exclusive(own);
        const std::uint64_t count = counted.state->count;
        counted.state->count = count + static_cast<std::uint64_t>(by);
        counted.state->exclusion.exit_exclusive(own);
        counted.lock->unlock();
    }

    void insert(Entry& entry, std::uint32_t name) {
        Bucket& bucket = bucket_of(name);
        entry.name = name;
        bucket.lock->lock();
        Entry* const first = bucket.head->first;
        entry.next = first;
        bucket.head->first = &entry;
        bucket.lock->unlock();
    }

    bool erase(Entry& entry) {
        Bucket& bucket = bucket_of(entry.name);
        bucket.lock->lock();
        Cell<Entry*>* link = &bucket.head->first;
        Entry* at = *link;
        while (at != nullptr && at != &entry) {
            link = &at->next;
            at = *link;
        }
        if (at != nullptr) {
            Entry* const next = entry.next;
            *link = next;
        }
        bucket.lock->unlock();
        return at != nullptr;
    }

    static void require_count(const LockedCount& counted, std::uint64_t expected,
                              std::string_view what) {
        const std::uint64_t count = counted.state->count;
        if (count == expected) return;
        throw CheckFailed(std::to_string(count) + " " + std::string(what) + ", not " +
                          std::to_string(expected));
    }

    static void require_all_excluded(const LockedCount& counted, ExclusionWitness Witnesses::*which,
                                     const std::vector<Witnesses>& witnesses) {
        std::vector<ExclusionWitness> of_this;
        for (const Witnesses& own : witnesses) of_this.push_back(own.*which);
        require_excluded(counted.state->exclusion, of_this);
    }

    const std::uint64_t hold_cycles_;
    LockedCount root_;
    LockedCount files_;
    LockedCount renames_;
    std::vector<Bucket> buckets_;
};

}  // namespace abortscope
