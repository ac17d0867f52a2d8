// SPDX-License-Identifier: Apache-2.0
//
// The scenario `hackbench`: groups of senders and receivers, every sender to every receiver of its
// group, as the scheduler benchmark has it.
//
// A group is `fan` senders and `fan` receivers; the workers are split into groups. A receiver has
// one queue (a socket's), which all senders of the group lock; it sleeps when the queue is empty
// and is woken when something arrives. A wake-up takes the run queue's lock of the one that is
// woken, and going to sleep takes one's own. Queue locks and run-queue locks are of the kind under
// test.
//
// The phase's duration is the program's score (lower is better); operations are messages, each
// counted where it is sent and where it is received.
//
// The checks: every receiver gets every sender's messages whole, each once and in order; the run
// queues' locks let nobody in beside their owner.
//
// Source: the queue spinlock RFC thread, LKML 2013-08, which measured with hackbench (20 senders
// and 20 receivers a group, messages of 100 bytes over socket pairs). Built from that description.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "primitives/owned.hpp"
#include "scenarios/entries.hpp"
#include "scenarios/entry.hpp"
#include "scenarios/exclusion_check.hpp"
#include "scenarios/lock_choice.hpp"
#include "scenarios/message_queue.hpp"
#include "scenarios/work.hpp"

namespace abortscope {
namespace {

constexpr std::array parameters{
    ParameterSpec{.name = "messages",
                  .option = "",
                  .help = "messages from each sender to each receiver of its group",
                  .default_value = 1000,
                  .minimum = 1,
                  .maximum = 10'000'000},
    ParameterSpec{.name = "fan",
                  .option = "",
                  .help = "senders, and receivers, of a group; threads is a multiple of twice that",
                  .default_value = 4,
                  .minimum = 1,
                  .maximum = 1024},
    ParameterSpec{.name = "run_queues",
                  .option = "",
                  .help = "scheduler queues that the workers are spread over",
                  .default_value = 8,
                  .minimum = 1,
                  .maximum = 4096},
    guests_parameter,
    queue_lock_parameters[0],
    queue_lock_parameters[1],
};
constexpr std::array<PhaseSpec, 1> phases{{{"messages", true}}};
constexpr std::array<std::string_view, 1> policies{"none"};

/// A Linux socket holds 212,992 bytes (net.core.rmem_default), a small message about 768 of them.
constexpr std::uint32_t queue_capacity = 212'992 / 768;
// Assumed, as orders of magnitude of a 2013 Xeon:
constexpr std::uint64_t message_ns = 600;  ///< allocate and copy, or copy and free, a socket buffer
constexpr std::uint64_t run_queue_ns = 200;  ///< enqueue or dequeue a task under its queue's lock

template <class M, class Source>
class Hackbench final : public Scenario {
  public:
    Hackbench(const TrialSpec& spec, const Source& locks)
        : messages_(static_cast<std::uint32_t>(spec.value("messages"))),
          fan_(static_cast<unsigned>(spec.value("fan"))),
          message_cycles_(M::cycles_of_ns(message_ns)),
          run_queue_cycles_(M::cycles_of_ns(run_queue_ns)) {
        if (spec.threads % (2 * fan_) != 0) {
            throw UsageError("hackbench: " + std::to_string(spec.threads) +
                             " threads are no multiple of twice fan, " + std::to_string(2 * fan_));
        }
        for (unsigned receiver = 0; receiver < spec.threads / 2; ++receiver) {
            queues_.push_back(
                std::make_unique<Queue>(locks.make("receive queue lock"), queue_capacity));
        }
        for (std::int64_t i = 0; i < spec.value("run_queues"); ++i) {
            run_queues_.push_back({locks.make("run queue lock"),
                                   make_owned<M, ExclusionCheck<M>>("run queue check")});
        }
        witnesses_.assign(spec.threads, Witnesses(run_queues_.size()));
    }

    std::uint64_t run(std::size_t /*phase*/, unsigned worker) override {
        Witnesses own(run_queues_.size());
        const std::uint64_t messages =
            is_sender(worker) ? send_all(worker, own) : receive_all(worker, own);
        witnesses_[worker] = own;
        return messages;
    }

    void check(std::size_t /*phase*/) override {
        for (std::size_t i = 0; i < run_queues_.size(); ++i) {
            std::vector<ExclusionWitness> of_this_queue;
            for (const Witnesses& own : witnesses_) of_this_queue.push_back(own[i]);
            require_excluded(*run_queues_[i].exclusion, of_this_queue);
        }
        for (const auto& queue : queues_) {
            if (!queue->empty()) throw CheckFailed("messages were left in a queue");
        }
    }

  private:
    using Lock = typename Source::Lock;
    using Queue = MessageQueue<M, Lock>;
    /// One for each run queue. What an elided section sees there would outlive its abort, but it
    /// sees only what fails the check anyway.
    using Witnesses = std::vector<ExclusionWitness>;

    struct RunQueue {
        Owned<M, Lock> lock;
        Owned<M, ExclusionCheck<M>> exclusion;
    };

    // Workers 2k and 2k + 1 are a sender and a receiver; a group is 2 * fan neighbours.
    static bool is_sender(unsigned worker) { return worker % 2 == 0; }
    unsigned first_of_group(unsigned worker) const { return worker - worker % (2 * fan_); }
    Queue& queue_of(unsigned receiver) { return *queues_[receiver / 2]; }

    static std::uint64_t tag_of(unsigned sender, std::uint64_t number) {
        return std::uint64_t{sender} << 48 | number << 8;  // the low byte is the filler's
    }

    /// In the scheduler: `worker` is put on its run queue, or taken off.
    void schedule(unsigned worker, Witnesses& own) {
        const std::size_t index = worker % run_queues_.size();
        const RunQueue& queue = run_queues_[index];
        queue.lock->lock();
        queue.exclusion->enter_exclusive(own[index]);
        work<M>(run_queue_cycles_);
        queue.exclusion->exit_exclusive(own[index]);
        queue.lock->unlock();
    }

    std::uint64_t send_all(unsigned worker, Witnesses& own) {
        for (std::uint64_t number = 0; number < messages_; ++number) {
            for (unsigned i = 0; i < fan_; ++i) {
                const unsigned receiver = first_of_group(worker) + 2 * i + 1;
                M::system_call(SystemCall::null);
                work<M>(message_cycles_);
                queue_of(receiver).send(
                    tag_of(worker, number), [&] { schedule(receiver, own); },
                    [&] { schedule(worker, own); });
            }
        }
        return std::uint64_t{messages_} * fan_;
    }

    std::uint64_t receive_all(unsigned worker, Witnesses& own) {
        std::vector<std::uint64_t> next(fan_);  // by sender: outside any transaction
        const unsigned first = first_of_group(worker);
        const std::uint64_t expected = std::uint64_t{messages_} * fan_;
        for (std::uint64_t received = 0; received < expected; ++received) {
            M::system_call(SystemCall::null);
            const std::uint64_t tag = queue_of(worker).receive([&] { schedule(worker, own); });
            work<M>(message_cycles_);
            const auto sender = static_cast<unsigned>(tag >> 48);
            const unsigned index = (sender - first) / 2;
            if (index >= fan_ || tag != tag_of(sender, next[index])) {
                throw CheckFailed("receiver " + std::to_string(worker) +
                                  " got a message out of order, or twice");
            }
            ++next[index];
        }
        return expected;
    }

    const std::uint32_t messages_;
    const unsigned fan_;
    const std::uint64_t message_cycles_;
    const std::uint64_t run_queue_cycles_;
    std::vector<std::unique_ptr<Queue>> queues_;  ///< one a receiver
    std::vector<RunQueue> run_queues_;
    std::vector<Witnesses> witnesses_;  ///< one a worker, stored after its loop
};

constexpr ScenarioInfo info{
    .name = "hackbench",
    .summary = "senders wake receivers through locked queues: the locks of hackbench in the kernel",
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
        return make_on_spinlocks<M, Hackbench>(spec);
    }
};

}  // namespace

ScenarioEntry hackbench_entry() {
    return entry_of<Maker>(info);
}

}  // namespace abortscope
