// Fetches into the CPU's caches what the next lookups of an index will read.
//
// For any worker, on the thread that has the table open. It owns nothing that outlives a call. It
// changes no answer, waits for nothing, and does nothing where it is not sure of the engine's memory:
// then it says so in the log, once. Only InnoDB of MySQL lends a plugin what this needs.
#pragma once

#include <array>
#include <cstddef>
#include <span>

struct TABLE;

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// Key images of one index, each with all of the index's parts.
class ExpectedKeys {
 public:
  static constexpr std::size_t most = 16;
  static constexpr std::size_t most_bytes = 64;  // of one; longer ones are left out
  using Image = std::span<const unsigned char>;

  void add(Image image);
  std::size_t size() const { return size_; }
  Image operator[](std::size_t number) const {
    return Image(images_).subspan(number * most_bytes, lengths_[number]);
  }

 private:
  std::array<unsigned char, most * most_bytes> images_;
  std::array<std::size_t, most> lengths_;
  std::size_t size_ = 0;
};

// Whether there is anything that it can do on this server.
bool can_prefetch_rows();
// The handler's present index is that of the keys.
void prefetch_rows(TABLE& table, const ExpectedKeys& keys);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
