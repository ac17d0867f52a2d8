// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue of messages with one receiver, under a lock under test: a socket's receive queue.
//
//   send     lock; full: note that a sender waits, unlock, sleep, again; else write the message,
//            unlock; was the receiver waiting: wake it
//   receive  lock; empty: note that the receiver waits, unlock, sleep, again; else read the
//   message,
//            unlock; were senders waiting: wake them
//
// Waiting loses no wake-up: the waiter notes its wait and reads the event's number under the lock,
// and sleeps only while the number is the same; whoever ends the wait raises it under the lock.
//
//   message  one word that says who sent it and its number, and filler derived from that word, so
//            that a message that was torn or overwritten is noticed
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "primitives/machine.hpp"
#include "primitives/owned.hpp"
#include "profiler/scenario.hpp"

namespace abortscope {

template <Machine M, class Lock>
class MessageQueue {
    template <class T>
    using Cell = typename M::template Cell<T>;
    using Event = typename M::template Atomic<std::uint32_t>;

  public:
    static constexpr std::size_t words = 13;  ///< 104 bytes: a message is two lines

    MessageQueue(Owned<M, Lock> lock, std::uint32_t capacity)
        : lock_(std::move(lock)),
          capacity_(capacity),
          ends_(make_owned<M, Ends>("queue ends")),
          messages_(make_owned_array<M, Message>("message", capacity)) {}

    /// `before_wake` is run before a sleeping receiver is woken, `before_sleep` before the caller
    /// sleeps; both outside the lock.
    template <class BeforeWake, class BeforeSleep>
    void send(std::uint64_t tag, BeforeWake before_wake, BeforeSleep before_sleep) {
        for (;;) {
            lock_->lock();
            const std::uint32_t count = ends_->count;
            if (count < capacity_) {
                put(tag, count);
                const bool receiver_waits = end_wait(ends_->receiver_waits, ends_->arrival);
                lock_->unlock();
                if (receiver_waits) {
                    before_wake();
                    M::futex_wake(ends_->arrival, 1);
                }
                return;
            }
            wait(ends_->senders_wait, ends_->space, before_sleep);
        }
    }

    /// The next message's tag. Throws CheckFailed if the message is not whole.
    template <class BeforeSleep>
    std::uint64_t receive(BeforeSleep before_sleep) {
        for (;;) {
            lock_->lock();
            const std::uint32_t count = ends_->count;
            if (count > 0) {
                const Received received = take(count);
                const bool senders_wait = end_wait(ends_->senders_wait, ends_->space);
                lock_->unlock();
                if (senders_wait) M::futex_wake(ends_->space, unbounded);
                if (!received.whole) {
                    throw CheckFailed("message " + std::to_string(received.tag) + " is not whole");
                }
                return received.tag;
            }
            wait(ends_->receiver_waits, ends_->arrival, before_sleep);
        }
    }

    bool empty() const { return ends_->count == std::uint32_t{0}; }

  private:
    struct alignas(128) Message {
        std::array<Cell<std::uint64_t>, words> content{};
    };
    struct alignas(64) Ends {
        Cell<std::uint32_t> count{};
        Cell<std::uint32_t> head{};  ///< the next to be received
        Cell<std::uint32_t> receiver_waits{};
        Cell<std::uint32_t> senders_wait{};
        alignas(64) Event arrival{0};  ///< raised when the receiver's wait ends
        alignas(64) Event space{0};    ///< raised when the senders' wait ends
    };
    struct Received {
        std::uint64_t tag;
        bool whole;
    };

    void put(std::uint64_t tag, std::uint32_t count) {
        const std::uint32_t head = ends_->head;
        Message& message = messages_.get()[(head + count) % capacity_];
        for (std::size_t i = 0; i < words; ++i) message.content[i] = tag + i;
        ends_->count = count + 1;
    }

    Received take(std::uint32_t count) {
        const std::uint32_t head = ends_->head;
        const Message& message = messages_.get()[head];
        const std::uint64_t tag = message.content[0];
        bool whole = true;
        for (std::size_t i = 1; i < words; ++i) whole &= message.content[i] == tag + i;
        ends_->head = (head + 1) % capacity_;
        ends_->count = count - 1;
        return {tag, whole};
    }

    /// With the lock held. True: somebody waits, and must be woken.
    static bool end_wait(Cell<std::uint32_t>& waits, Event& event) {
        if (waits == std::uint32_t{0}) return false;
        waits = 0;
        const std::uint32_t number = event.load(std::memory_order_relaxed);
        event.store(number + 1, std::memory_order_release);
        return true;
    }

    /// With the lock held; returns without it.
    template <class BeforeSleep>
    void wait(Cell<std::uint32_t>& waits, Event& event, BeforeSleep before_sleep) {
        waits = 1;
        const std::uint32_t number = event.load(std::memory_order_relaxed);
        lock_->unlock();
        before_sleep();
        while (event.load(std::memory_order_acquire) == number) {
            M::futex_wait(event, number, forever_ns);
        }
    }

    Owned<M, Lock> lock_;
    const std::uint32_t capacity_;
    Owned<M, Ends> ends_;
    Owned<M, Message> messages_;
};

}  // namespace abortscope
