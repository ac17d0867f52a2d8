// SPDX-License-Identifier: Apache-2.0
//
// The scenario `dbench`: clients of a file server, each in a directory of its own, with the mix of
// requests of dbench's trace and the locks that they take in the kernel.
//
// A client (a worker) draws its next request by weight, until the time is up:
//
//   request                        | root directory | hash bucket | list of files | else
//   -------------------------------+----------------+-------------+---------------+----------------
//   ReadX, WriteX                  |                |             |               | moves bytes
//   NTCreateX                      | walk           | look, add   | add           | own directory
//   QUERY_PATH, SET_FILE           | walk           | look        |               |
//   FIND_FIRST                     | walk           | look        |               | own directory
//   Unlink                         | walk           | remove      | remove        | own directory
//   Rename                         | walk twice     | both        |               | the rename lock
//   QUERY_FS                       | walk           |             |               |
//   Flush                          |                |             |               | the journal
//   Close, QUERY_FILE, Lock/Unlock |                |             |               | own file
//
// A walk takes and drops a reference on the root directory, under its lock (path_walk counted), or
// passes it without a write, as Linux does since 2.6.38 where nothing is renamed meanwhile (rcu).
//
// Directories and files of a client are its own, so that clients meet at the root directory's
// reference count, at the list of files and at the journal, as in the kernel that was measured.
//
// operations are bytes moved, so operations_per_s is the program's score. The phase warm_up, a
// fifth of the time, comes before and is not part of it.
//
// The check: the names that exist are those that were created and not removed (name_space.hpp).
//
// Source: the queue spinlock RFC thread, LKML 2013-08, which measured with dbench. The weights are
// the shares of the lines of dbench 4.0's trace; sizes and times are assumed.
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "machines/random.hpp"
#include "primitives/futex_mutex.hpp"
#include "primitives/owned.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/lock_choice.hpp"
#include "scenarios/name_space.hpp"
#include "scenarios/stop_flag.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array<std::string_view, 2> walk_words{"counted", "rcu"};
enum Walk : std::int64_t { counted, rcu };

constexpr std::array parameters{
    duration_parameter(20),
    ParameterSpec{.name = "transfer_bytes",
                  .option = "",
                  .help = "bytes that a ReadX or WriteX moves",
                  .default_value = 16'384,
                  .minimum = 1,
                  .maximum = 1 << 24},
    ParameterSpec{.name = "buckets",
                  .option = "",
                  .help = "buckets of the name hash",
                  .default_value = 256,
                  .minimum = 1,
                  .maximum = 65'536},
    ParameterSpec{.name = "path_walk",
                  .option = "",
                  .help = "counted: references on the directories passed; rcu: none",
                  .maximum = walk_words.size() - 1,
                  .words = walk_words},
    guests_parameter,
    queue_lock_parameters[0],
    queue_lock_parameters[1],
};
constexpr std::array<PhaseSpec, 2> phases{{{"warm_up", true}, {"run", true}}};
constexpr std::array<std::string_view, 1> policies{"none"};

enum class Request : std::uint8_t {
    move_bytes,
    create,
    look,
    list_directory,
    unlink,
    rename,
    query_fs,
    flush,
    own_file,
};

struct WeightedRequest {
    std::string_view name;
    std::uint32_t weight;  ///< per mille of the trace's lines
    Request request;
};

constexpr std::array<WeightedRequest, 13> mix{{
    {"ReadX", 270, Request::move_bytes},
    {"NTCreateX", 170, Request::create},
    {"QUERY_PATH", 160, Request::look},
    {"Close", 130, Request::own_file},
    {"WriteX", 90, Request::move_bytes},
    {"FIND_FIRST", 60, Request::list_directory},
    {"Unlink", 35, Request::unlink},
    {"QUERY_FS", 30, Request::query_fs},
    {"QUERY_FILE", 30, Request::own_file},
    {"SET_FILE", 14, Request::look},
    {"Flush", 12, Request::flush},
    {"Rename", 7, Request::rename},
    {"Lock, Unlock", 1, Request::own_file},
}};

constexpr std::uint32_t total_weight() {
    std::uint32_t sum = 0;
    for (const WeightedRequest& row : mix) sum += row.weight;
    return sum;
}

// Orders of magnitude of a 2013 Xeon and a file system in memory, assumed.
constexpr std::uint64_t bytes_per_ns = 8;    ///< a copy between user and page cache
constexpr std::uint64_t request_ns = 500;    ///< what any request does on its own
constexpr std::uint64_t directory_ns = 300;  ///< search one's own directory
constexpr std::uint64_t hold_ns = 50;        ///< a reference is held for
constexpr std::uint64_t journal_ns = 2000;   ///< under the journal's lock

constexpr std::uint32_t names_per_client = 64;

template <class M, class Source>
class Dbench final : public Scenario {
  public:
    Dbench(const TrialSpec& spec, const Source& locks)
        : duration_ns_(static_cast<std::uint64_t>(spec.value("duration_ms")) * 1'000'000),
          transfer_bytes_(static_cast<std::uint64_t>(spec.value("transfer_bytes"))),
          transfer_cycles_(M::cycles_of_ns(transfer_bytes_ / bytes_per_ns)),
          request_cycles_(M::cycles_of_ns(request_ns)),
          directory_cycles_(M::cycles_of_ns(directory_ns)),
          journal_cycles_(M::cycles_of_ns(journal_ns)),
          hold_cycles_(M::cycles_of_ns(hold_ns)),
          counts_directories_(spec.value("path_walk") == counted),
          name_space_(locks, static_cast<std::uint32_t>(spec.value("buckets")), hold_cycles_) {
        for (unsigned worker = 0; worker < spec.threads; ++worker) {
            clients_.push_back({Random(spec.seed, worker),
                                make_owned_array<M, Entry>("entry", names_per_client),
                                make_owned<M, FutexMutex<M>>("directory lock"),
                                {},
                                worker * names_per_client * 2});
        }
        witnesses_.resize(spec.threads);
    }

    std::uint64_t run(std::size_t phase, unsigned worker) override {
        Client& client = clients_[worker];
        typename Names::Witnesses own = witnesses_[worker];
        typename StopFlag<M>::Clock clock(*stops_[phase],
                                          phase == 0 ? duration_ns_ / 5 : duration_ns_, 4);
        std::uint64_t bytes = 0;
        while (clock.runs_on()) {
            M::system_call(SystemCall::null);
            work<M>(request_cycles_);
            bytes += serve(draw(client.random), client, own);
        }
        witnesses_[worker] = own;
        return bytes;
    }

    void check(std::size_t /*phase*/) override {
        std::set<std::uint32_t> names;
        for (const Client& client : clients_) {
            for (std::uint32_t i = 0; i < names_per_client; ++i) {
                if (client.exists[i]) names.insert(client.name_of(i));
            }
        }
        name_space_.check(names, witnesses_);
    }

  private:
    using Names = NameSpace<M, Source>;
    using Entry = typename Names::Entry;

    struct Client {
        Random random;
        Owned<M, Entry> entries;
        Owned<M, FutexMutex<M>> directory;  ///< which nobody else takes
        std::array<bool, names_per_client> exists;
        std::uint32_t first_name;
        std::array<bool, names_per_client> renamed{};

        /// A file has one of two names, between which renames go.
        std::uint32_t name_of(std::uint32_t file) const {
            return first_name + 2 * file + (renamed[file] ? 1 : 0);
        }
    };

    static Request draw(Random& random) {
        auto left = static_cast<std::uint32_t>(random.below(total_weight()));
        for (const WeightedRequest& row : mix) {
            if (left < row.weight) return row.request;
            left -= row.weight;
        }
        return Request::own_file;
    }

    /// Returns the bytes moved.
    std::uint64_t serve(Request request, Client& client, typename Names::Witnesses& own) {
        const auto file = static_cast<std::uint32_t>(client.random.below(names_per_client));
        Entry& entry = client.entries.get()[file];
        switch (request) {
            case Request::move_bytes:
                work<M>(transfer_cycles_);
                return transfer_bytes_;
            case Request::create:
                create(file, client, own);
                break;
            case Request::look:
                walk(own);
                require_known(client, file);
                break;
            case Request::list_directory:
                walk(own);
                in_directory(client, [this] { work<M>(directory_cycles_); });
                require_known(client, file);
                break;
            case Request::unlink:
                walk(own);
                in_directory(client, [&] {
                    if (name_space_.remove(entry, own) != client.exists[file]) fail(file);
                });
                client.exists[file] = false;
                break;
            case Request::rename:
                walk(own);
                walk(own);
                rename(file, client, own);
                break;
            case Request::query_fs:
                walk(own);
                break;
            case Request::flush:
                journal_->lock();
                work<M>(journal_cycles_);
                journal_->unlock();
                break;
            case Request::own_file:
                break;
        }
        return 0;
    }

    void walk(typename Names::Witnesses& own) {
        if (counts_directories_) {
            name_space_.walk(own);
        } else {
            work<M>(hold_cycles_);
        }
    }

    void create(std::uint32_t file, Client& client, typename Names::Witnesses& own) {
        walk(own);
        in_directory(client, [&] {
            require_known(client, file);
            if (client.exists[file]) return;
            work<M>(directory_cycles_);
            name_space_.create(client.entries.get()[file], client.name_of(file), own);
        });
        client.exists[file] = true;
    }

    void rename(std::uint32_t file, Client& client, typename Names::Witnesses& own) {
        if (!client.exists[file]) return;
        client.renamed[file] = !client.renamed[file];
        if (!name_space_.rename(client.entries.get()[file], client.name_of(file), own)) fail(file);
    }

    template <class Body>
    static void in_directory(Client& client, Body body) {
        client.directory->lock();
        body();
        client.directory->unlock();
    }

    /// The hash knows of a client's file what the client knows.
    void require_known(const Client& client, std::uint32_t file) {
        if (name_space_.contains(client.name_of(file)) != client.exists[file]) fail(file);
    }

    [[noreturn]] static void fail(std::uint32_t file) {
        throw CheckFailed("worker " + std::to_string(M::this_worker()) + ": its file " +
                          std::to_string(file) + " was lost, or came back");
    }

    const std::uint64_t duration_ns_;
    const std::uint64_t transfer_bytes_;
    const std::uint64_t transfer_cycles_;
    const std::uint64_t request_cycles_;
    const std::uint64_t directory_cycles_;
    const std::uint64_t journal_cycles_;
    const std::uint64_t hold_cycles_;
    const bool counts_directories_;
    Names name_space_;
    Owned<M, FutexMutex<M>> journal_ = make_owned<M, FutexMutex<M>>("journal lock");
    std::array<Owned<M, StopFlag<M>>, 2> stops_{make_owned<M, StopFlag<M>>("stop flag"),
                                                make_owned<M, StopFlag<M>>("stop flag")};
    std::vector<Client> clients_;  ///< one a worker; changed by it outside any transaction
    std::vector<typename Names::Witnesses> witnesses_;
};

constexpr ScenarioInfo info{
    .name = "dbench",
    .summary = "file-server clients: the locks that path walks, creations and renames take",
    .source = "queue spinlock RFC thread, LKML 2013-08",
    .parameters = parameters,
    .phases = phases,
    .locks = spinlocks,
    .default_policies = policies,
    .default_threads = 8,
};

struct Maker {
    template <Machine M>
    static std::unique_ptr<Scenario> make(const TrialSpec& spec) {
        return make_on_spinlocks<M, Dbench>(spec);
    }
};

}  // namespace

ScenarioEntry dbench_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
