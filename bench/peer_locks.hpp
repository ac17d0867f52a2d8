// SPDX-License-Identifier: Apache-2.0
//
// Other people's locks behind the interface of ours, and the list of all that primitives_bench
// compares: each as `template <...> name`, constructed with the number of workers.
#pragma once

#include <pthread.h>

#include <array>
#include <shared_mutex>
#include <system_error>

#if defined(ABORTSCOPE_PEER_CK)
extern "C" {
#include <ck_backoff.h>
#include <ck_elide.h>
#include <ck_rwlock.h>
#include <spinlock/fas.h>
#include <spinlock/ticket.h>
}
#endif
#if defined(ABORTSCOPE_PEER_TBB)
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/queuing_rw_mutex.h>
#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>
#endif
#if defined(ABORTSCOPE_PEER_ABSL)
#include <absl/synchronization/mutex.h>
#endif

namespace abortscope::bench {

class PthreadSpin {
  public:
    explicit PthreadSpin(unsigned) { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
    ~PthreadSpin() { pthread_spin_destroy(&lock_); }
    void lock() { pthread_spin_lock(&lock_); }
    void unlock() { pthread_spin_unlock(&lock_); }

  private:
    pthread_spinlock_t lock_;
};

class PthreadMutex {
  public:
    explicit PthreadMutex(unsigned) {}
    void lock() { pthread_mutex_lock(&lock_); }
    void unlock() { pthread_mutex_unlock(&lock_); }

  private:
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
};

class PthreadRwlock {
  public:
    explicit PthreadRwlock(unsigned) {}
    void lock() { pthread_rwlock_wrlock(&lock_); }
    void unlock() { pthread_rwlock_unlock(&lock_); }
    void lock_shared() { pthread_rwlock_rdlock(&lock_); }
    void unlock_shared() { pthread_rwlock_unlock(&lock_); }

  private:
    pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
};

class StdSharedMutex : public std::shared_mutex {
  public:
    explicit StdSharedMutex(unsigned) {}
};

#if defined(ABORTSCOPE_PEER_CK)
class CkFas {
  public:
    explicit CkFas(unsigned) { ck_spinlock_fas_init(&lock_); }
    void lock() { ck_spinlock_fas_lock(&lock_); }
    void unlock() { ck_spinlock_fas_unlock(&lock_); }

  private:
    ck_spinlock_fas_t lock_;
};

class CkTicket {
  public:
    explicit CkTicket(unsigned) { ck_spinlock_ticket_init(&lock_); }
    void lock() { ck_spinlock_ticket_lock(&lock_); }
    void unlock() { ck_spinlock_ticket_unlock(&lock_); }

  private:
    ck_spinlock_ticket_t lock_;
};

class CkRwlock {
  public:
    explicit CkRwlock(unsigned) { ck_rwlock_init(&lock_); }
    void lock() { ck_rwlock_write_lock(&lock_); }
    void unlock() { ck_rwlock_write_unlock(&lock_); }
    void lock_shared() { ck_rwlock_read_lock(&lock_); }
    void unlock_shared() { ck_rwlock_read_unlock(&lock_); }

  private:
    ck_rwlock_t lock_;
};
#endif

#if defined(ABORTSCOPE_PEER_TBB)
template <class Lock>
class TbbLock : public Lock {
  public:
    explicit TbbLock(unsigned) {}
};

/// The queuing locks know only scoped locks: one for each thread.
template <class Lock, bool shared>
class TbbQueuing {
  public:
    explicit TbbQueuing(unsigned) {}
    void lock() {
        if constexpr (shared) {
            scope().acquire(lock_, true);
        } else {
            scope().acquire(lock_);
        }
    }
    void unlock() { scope().release(); }
    void lock_shared() { scope().acquire(lock_, false); }
    void unlock_shared() { scope().release(); }

  private:
    static typename Lock::scoped_lock& scope() {
        thread_local typename Lock::scoped_lock mine;
        return mine;
    }
    Lock lock_;
};
#endif

#if defined(ABORTSCOPE_PEER_ABSL)
class AbslMutex {
  public:
    explicit AbslMutex(unsigned) {}
    void lock() { lock_.Lock(); }
    void unlock() { lock_.Unlock(); }
    void lock_shared() { lock_.ReaderLock(); }
    void unlock_shared() { lock_.ReaderUnlock(); }

  private:
    absl::Mutex lock_;
};
#endif

}  // namespace abortscope::bench
