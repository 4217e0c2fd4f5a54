// An array that grows while text is read and is then handed over, for instance to NumPy.
#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace thresher {

/// Unlike std::vector, it neither clears new memory nor copies when it grows (realloc moves pages), and its storage can be
/// released. The parser is fast enough for this to matter. Writers call `room(n)`, fill it and `commit` what they used.
template <class T> class Growing {
  static_assert(std::is_trivially_copyable<T>::value, "realloc moves the elements");

 public:
  Growing() = default;
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  Growing(Growing&& other) noexcept { swap(other); }
  Growing& operator=(Growing&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Growing() { std::free(data_); }

  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }

  /// Reserves room for n elements, in large pages if the system has them. Page faults take a third of the time of reading a large
  /// file. Growing step by step would lose this gain, since realloc cannot move large pages without a copy.
  void expect(std::size_t n) {
    room(n);
#ifdef __linux__
    constexpr std::uintptr_t large = std::uintptr_t{1} << 21;
    const auto begin = reinterpret_cast<std::uintptr_t>(data_), end = begin + capacity_ * sizeof(T);
    const std::uintptr_t first = (begin + large - 1) / large * large;
    if (end > first + large) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
  }

  /// Where the next n elements go. Valid until the next call.
  T* room(std::size_t n) {
    if (capacity_ - size_ < n) grow(n);
    return data_ + size_;
  }
  void commit(std::size_t n) { size_ += n; }
  void push(T value) {
    *room(1) = value;
    ++size_;
  }

  /// Hands over the storage, trimmed to size; the receiver calls std::free. Never null: an empty array has an address, too.
  T* release() {
    void* const cut = std::realloc(static_cast<void*>(data_), (size_ ? size_ : 1) * sizeof(T));
    if (cut) data_ = static_cast<T*>(cut);
    if (!data_) throw std::bad_alloc();
    size_ = capacity_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  void grow(std::size_t n) {
    std::size_t capacity = capacity_ + capacity_ / 2;
    if (capacity < size_ + n) capacity = size_ + n;
    if (capacity < 64) capacity = 64;
    if (capacity > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }
  void swap(Growing& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace thresher
