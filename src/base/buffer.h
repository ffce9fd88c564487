// Buffer: a growing run of bytes for replies.
//
// Owns its memory; used by one thread at a time. reserve() gives room to write
// to, advance() makes what was written part of the buffer. It never zeroes and
// never shrinks by itself: clear() keeps the memory, release() gives it back.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace hs {

class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  // At least `count` writable bytes behind the last one.
  char* reserve(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      grow(count);
    return bytes_.get() + size_;
  }
  void advance(std::size_t count) {
    assert(count <= capacity_ - size_);
    size_ += count;
  }
  // Makes what was written from reserve()'s pointer up to `end` part of the buffer.
  void advance_to(const char* end) { size_ = static_cast<std::size_t>(end - bytes_.get()); }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void push_back(char byte) {
    *reserve(1) = byte;
    ++size_;
  }

  // Forgets everything from `size` on.
  void truncate(std::size_t size) {
    assert(size <= size_);
    size_ = size;
  }
  // Forgets the first `count` bytes.
  void drop_front(std::size_t count) {
    assert(count <= size_);
    std::memmove(bytes_.get(), bytes_.get() + count, size_ - count);
    size_ -= count;
  }
  void clear() { size_ = 0; }
  void release() { *this = Buffer{}; }

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  std::string_view view(std::size_t begin, std::size_t end) const {
    assert(begin <= end && end <= size_);
    return {bytes_.get() + begin, end - begin};
  }

 private:
  void grow(std::size_t count) {
    const std::size_t wanted = size_ + count;
    std::size_t capacity = capacity_ < 256 ? 256 : capacity_ * 2;
    while (capacity < wanted) capacity *= 2;
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ != 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace hs
