// SPDX-License-Identifier: Apache-2.0
//
// A large zero-filled range of address space that costs host memory only where it is touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace abortscope::model {

class ZeroedMemory {
  public:
    ZeroedMemory() = default;
    explicit ZeroedMemory(std::size_t size) : size_(size) {
        place_ = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place_ == MAP_FAILED) throw std::bad_alloc();
        // Accesses are scattered: with small pages most of them would miss the host's TLB.
        (void)madvise(place_, size, MADV_HUGEPAGE);
    }
    ZeroedMemory(ZeroedMemory&& other) noexcept
        : place_(std::exchange(other.place_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    ZeroedMemory& operator=(ZeroedMemory&& other) noexcept {
        std::swap(place_, other.place_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~ZeroedMemory() {
        if (place_ != nullptr) munmap(place_, size_);
    }

    void* get() const { return place_; }
    std::size_t size() const { return size_; }

  private:
    void* place_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace abortscope::model
