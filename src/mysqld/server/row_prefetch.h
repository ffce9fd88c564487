// Fetches into the CPU's caches what the next lookups of an index will read.
//
// For any worker, on the thread that has the table open. It owns nothing that outlives a call. It
// changes no answer, waits for nothing, and does nothing where it is not sure of the engine's memory:
// then it says so in the log, once. Only InnoDB of MySQL lends a plugin what this needs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

struct TABLE;

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// Key images of one index, each with all of the index's parts, and none of them NULL. Behind the last
// one are as many bytes as an integer has at most.
class ExpectedKeys {
 public:
  static constexpr std::size_t most = 16;
  static constexpr std::size_t most_bytes = 1024;  // of one; longer ones are left out
  using Image = std::span<const unsigned char>;

  void add(Image image) {
    if (size_ == most || image.size() > std::min(most_bytes, room - used_)) return;
    std::memcpy(images_.data() + used_, image.data(), image.size());
    begins_[size_++] = used_;
    used_ += image.size();
    begins_[size_] = used_;
  }
  std::size_t size() const { return size_; }
  Image operator[](std::size_t number) const {
    return Image(images_).subspan(begins_[number], begins_[number + 1] - begins_[number]);
  }

 private:
  static constexpr std::size_t room = 4 * most_bytes;

  std::array<unsigned char, room + sizeof(std::uint64_t)> images_;
  std::array<std::size_t, most + 1> begins_;
  std::size_t used_ = 0;
  std::size_t size_ = 0;
};

enum class Prefetched : std::uint8_t {
  done,
  not_now,  // the engine has no such index in memory at present, or it is being changed
  never,    // there is nothing that can be done for this table, or on this server
};

// Whether there is anything that it can do on this server.
bool can_prefetch_rows();
// The handler's present index is that of the keys. If it is done, there is a hash for each key.
using KeyHashes = std::array<std::uint64_t, ExpectedKeys::most>;
Prefetched prefetch_rows(TABLE& table, const ExpectedKeys& keys, KeyHashes& hashes);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
