// SPDX-License-Identifier: Apache-2.0
//
// A growing array of plain values that takes its memory from malloc, not from operator new: the
// engine grows its logs while a workload's transaction is open, where operator new traps.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace abortscope::model {

template <class T>
class GrowBuffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    GrowBuffer() = default;
    GrowBuffer(GrowBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    GrowBuffer& operator=(GrowBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~GrowBuffer() { std::free(data_); }

    T* data() { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    void clear() { size_ = 0; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& back() { return data_[size_ - 1]; }
    void pop_back() { --size_; }

    void push_back(const T& value) {
        if (size_ == capacity_) reserve(capacity_ == 0 ? 64 : capacity_ * 2);
        data_[size_++] = value;
    }
    /// The new places hold no particular value.
    void resize(std::size_t size) {
        if (size > capacity_) reserve(size);
        size_ = size;
    }

  private:
    void reserve(std::size_t capacity) {
        void* grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
        if (grown == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(grown);
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace abortscope::model
