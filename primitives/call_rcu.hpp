// SPDX-License-Identifier: Apache-2.0
//
// Deferred work after a grace period: queue a callback now, a worker runs it when every read
// section that could see the object has ended.
//
//     CallRcu<M> call_rcu(rcu, workers, *find_wake_up_form("futex"), queues);
//     call_rcu.call(node, [](RcuHead<M>* head) { ... });   // any worker
//     call_rcu.run_worker(queue);                           // a worker that does nothing else
//     call_rcu.stop();                                      // then run_worker drains and returns
//
// A queue has one worker. With one queue all workers share it; with more, worker i uses queue
// i mod queues, as liburcu's per-CPU workers do. A pass: take the whole queue, one grace period for
// all of it, the callbacks in order, then wait as the form says.
//
// Nothing is queued after stop(); callbacks must not queue then either.
//
// Source: liburcu urcu-call-rcu-impl.h (protocol; drains instead of handing over to a default
// queue).
#pragma once

#include <cstdint>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"
#include "primitives/rcu.hpp"
#include "primitives/wait_free_queue.hpp"
#include "primitives/wake_up_event.hpp"

namespace abortscope {

/// What a queue's worker counted. Written by it alone, outside any transaction.
struct alignas(128) CallRcuWorkerCounters {
    std::uint64_t passes = 0;  ///< looks at the queue
    std::uint64_t grace_periods = 0;
    std::uint64_t callbacks = 0;  ///< run
    std::uint64_t sleeps = 0;     ///< waits for a wake-up that really slept
};

/// What a producer counted. In Cells, so that a transaction that aborts takes its calls back.
template <Machine M>
struct alignas(128) CallRcuProducerCounters {
    typename M::template Cell<std::uint64_t> calls{0};
    typename M::template Cell<std::uint64_t> wake_ups{0};  ///< made by call()
};

template <Machine M, class Domain = RcuDomain<M>>
class CallRcu {
  public:
    using Head = RcuHead<M>;
    using ProducerCounters = CallRcuProducerCounters<M>;

    /// `domain` and `form` outlive it; producers are workers 0 .. workers-1.
    CallRcu(Domain& domain, unsigned workers, const WakeUpForm& form, unsigned queues = 1,
            std::uint64_t batch_delay_ns = WakeUpEvent<M>::default_batch_delay_ns)
        : domain_(&domain),
          producers_(make_owned_array<M, ProducerCounters>("call_rcu.producers", workers)),
          queues_(make_queues(queues, form, batch_delay_ns)),
          queue_count_(queues) {}

    /// Runs callback(&head) after a grace period.
    void call(Head& head, typename Head::Callback callback) {
        const unsigned worker = M::this_worker();
        Queue& queue = queues_.get()[worker % queue_count_];
        head.callback = callback;
        queue.waiting.push(head);
        ProducerCounters& counters = producers_.get()[worker];
        counters.calls += std::uint64_t{1};
        if (queue.event.ring()) counters.wake_ups += std::uint64_t{1};
    }

    /// The worker of one queue: returns when stop() was called and the queue is empty.
    void run_worker(unsigned index) {
        Queue& queue = queues_.get()[index];
        CallRcuWorkerCounters& counters = queue.counters;
        queue.event.start();
        for (;;) {
            queue.event.begin_pass();
            ++counters.passes;
            const auto batch = queue.waiting.take_all();
            if (!batch.empty()) {
                domain_->synchronize();
                ++counters.grace_periods;
                batch.for_each([&](Head* head) {
                    const typename Head::Callback callback = head->callback;
                    callback(head);
                    ++counters.callbacks;
                });
            }
            if (queue.stops.load(std::memory_order_acquire) != 0) {
                if (queue.waiting.empty()) break;
                continue;
            }
            counters.sleeps += queue.event.end_pass([&queue] {
                return !queue.waiting.empty() || queue.stops.load(std::memory_order_acquire) != 0;
            });
        }
        queue.event.stop();
    }

    /// Tells the workers of all queues to drain and return.
    void stop() {
        for (unsigned i = 0; i < queue_count_; ++i) {
            Queue& queue = queues_.get()[i];
            queue.stops.store(1, std::memory_order_release);
            queue.event.ring();
        }
    }

    unsigned queues() const { return queue_count_; }
    WakeUpEvent<M>& event(unsigned index) { return queues_.get()[index].event; }

    /// Read them when nobody writes.
    const CallRcuWorkerCounters& queue_counters(unsigned index) const {
        return queues_.get()[index].counters;
    }
    const ProducerCounters& producer_counters(unsigned worker) const {
        return producers_.get()[worker];
    }

  private:
    struct Queue {
        Queue(const WakeUpForm& form, std::uint64_t batch_delay_ns) : event(form, batch_delay_ns) {}
        WaitFreeQueue<M> waiting;
        WakeUpEvent<M> event;
        alignas(64) typename M::template Atomic<std::uint32_t> stops{0};
        CallRcuWorkerCounters counters;
    };

    static Owned<M, Queue> make_queues(unsigned count, const WakeUpForm& form,
                                       std::uint64_t batch_delay_ns) {
        void* place = M::allocate(count * sizeof(Queue), alignof(Queue));
        M::describe(place, count * sizeof(Queue), "call_rcu.queues");
        auto* queues = static_cast<Queue*>(place);
        for (unsigned i = 0; i < count; ++i) {
            ::new (static_cast<void*>(queues + i)) Queue(form, batch_delay_ns);
        }
        return Owned<M, Queue>(queues, MachineDelete<M, Queue>{count});
    }

    Domain* domain_;
    Owned<M, ProducerCounters> producers_;
    Owned<M, Queue> queues_;
    unsigned queue_count_;
};

}  // namespace abortscope
