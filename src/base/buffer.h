// Buffer: a growing run of bytes for replies.
//
// It owns its memory and is used by one thread at a time. reserve() gives room to write to, and
// advance() makes the written bytes part of the buffer. It never writes zeros, and it never shrinks
// by itself: clear() keeps the memory, free_memory() gives it back.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/memory_block.h"

namespace hs {

class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    memory_ = MemoryBlock(std::move(other.memory_));
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // At least `count` writable bytes behind the last byte.
  char* reserve(std::size_t count) {
    if (memory_.size() - size_ < count) [[unlikely]]
      grow(count);
    return memory_.get() + size_;
  }
  void advance(std::size_t count) {
    assert(count <= memory_.size() - size_);
    size_ += count;
  }
  // Makes the bytes from reserve()'s pointer up to `end` part of the buffer.
  void advance_to(const char* end) { size_ = static_cast<std::size_t>(end - memory_.get()); }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void push_back(char byte) {
    *reserve(1) = byte;
    ++size_;
  }

  // Removes everything from `size` on.
  void truncate(std::size_t size) {
    assert(size <= size_);
    size_ = size;
  }
  // Removes the first `count` bytes.
  void drop_front(std::size_t count) {
    assert(count <= size_);
    if (count == 0) return;  // there may be no memory yet
    std::memmove(memory_.get(), memory_.get() + count, size_ - count);
    size_ -= count;
  }
  void clear() { size_ = 0; }
  void free_memory() { *this = Buffer{}; }

  // Gives the buffer exactly so much memory. It must be enough for the bytes in the buffer.
  void set_capacity(std::size_t capacity) {
    assert(capacity >= size_);
    memory_.resize(capacity, size_);
  }
  // How much memory set_capacity() takes before it gives any back.
  std::size_t cost_of(std::size_t capacity) const { return memory_.cost_of_resize(capacity); }

  char* data() { return memory_.get(); }
  const char* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return memory_.size(); }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {memory_.get(), size_}; }
  std::string_view view(std::size_t begin, std::size_t end) const {
    assert(begin <= end && end <= size_);
    return {memory_.get() + begin, end - begin};
  }

 private:
  void grow(std::size_t count) {
    set_capacity(std::max({smallest_capacity, 2 * memory_.size(), size_ + count}));
  }

  static constexpr std::size_t smallest_capacity = 256;

  MemoryBlock memory_;
  std::size_t size_ = 0;
};

}  // namespace hs
