// RecentKeys: whether the keys of lookups are those that came lately.
//
// Rows that are asked for again and again are in the CPU's caches already. It remembers a few thousand
// keys by their hashes, and takes a key that it does not remember in the place of another one. So it may
// be wrong, and only hints are made of what it says. Used by the thread of its store. It allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hs::store {

class RecentKeys {
 public:
  // About so many rows and what leads to them are in a core's own cache.
  static constexpr std::size_t most = 4096;

  // Remembers the key. Returns whether it was remembered already.
  bool note(std::uint64_t hash) {
    // Hashes of the server need not have well mixed bits in all places.
    const std::uint64_t mixed = hash * 0x9e3779b97f4a7c15U;
    const auto mark = static_cast<std::uint16_t>(mixed >> 48 | 1U);
    std::uint16_t& place = marks_[(mixed >> 32) % most];
    const bool is_known = place == mark;
    place = mark;
    return is_known;
  }

 private:
  std::array<std::uint16_t, most> marks_{};
};

}  // namespace hs::store
