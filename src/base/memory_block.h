// MemoryBlock: a run of bytes that can grow.
//
// It owns its memory and is used by one thread at a time. A large block comes from the kernel and
// goes back to it at once, because an allocator would keep much of the memory that thousands of
// clients have used. A large block grows without a second copy. It writes zeros only where it has
// to.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace hs {

class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MemoryBlock() { give_back(); }

  char* get() const { return bytes_; }
  std::size_t size() const { return size_; }

  // How much memory resize() takes before it gives any back.
  std::size_t cost_of_resize(std::size_t size) const {
    if (!is_large(size) || !is_large(size_)) return size;
    return size > size_ ? size - size_ : 0;
  }

  // Keeps the first `used` bytes, for which there must be room. If it throws bad_alloc, nothing has
  // changed.
  void resize(std::size_t size, std::size_t used) {
    if (can_move && is_large(size) && is_large(size_)) {
      void* const moved = ::mremap(bytes_, size_, size, MREMAP_MAYMOVE);
      if (moved == MAP_FAILED) throw std::bad_alloc();
      bytes_ = static_cast<char*>(moved);
    } else {
      char* const bytes = is_large(size) ? take_large(size) : new char[size];
      if (used != 0) std::memcpy(bytes, bytes_, used);
      give_back();
      bytes_ = bytes;
    }
    size_ = size;
  }

 private:
  static constexpr std::size_t smallest_large = std::size_t{128} << 10;
  // The sanitizers do not see that the kernel moves memory. With them it is copied.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  static constexpr bool can_move = false;
#else
  static constexpr bool can_move = true;
#endif

  static bool is_large(std::size_t size) { return size >= smallest_large; }
  static char* take_large(std::size_t size) {
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<char*>(memory);
  }
  void give_back() {
    if (is_large(size_)) {
      ::munmap(bytes_, size_);
    } else {
      delete[] bytes_;
    }
  }

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hs
