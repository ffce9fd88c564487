// KeyedHash: a hash of bytes for which nobody outside can compute collisions.
//
// The bytes are the coefficients of a polynomial. It is evaluated at a secret random point, in the
// integers modulo the prime 2^61 - 1. Two different keys of n words have the same hash for at most
// n of the 2^61 points, whatever the keys are. So nobody can make colliding keys without knowing
// the point. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace hs {

class KeyedHash {
 public:
  KeyedHash() : KeyedHash(std::random_device{}) {}

  std::uint64_t operator()(std::string_view key) const {
    // The length distinguishes keys that differ only in zeros at the end.
    std::uint64_t sum = key.size() & prime;
    while (!key.empty()) {
      const std::size_t size = key.size() < word_bytes ? key.size() : word_bytes;
      std::uint64_t word = 0;
      std::memcpy(&word, key.data(), size);
      sum = times_point(sum) + word;
      sum = (sum & prime) + (sum >> 61);
      key.remove_prefix(size);
    }
    sum = times_point(sum);
    return sum >= prime ? sum - prime : sum;
  }

 private:
  static constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
  static constexpr std::size_t word_bytes = 7;  // so that each word is less than the prime

  explicit KeyedHash(std::random_device&& random)
      : point_((std::uint64_t{random()} << 32 | random()) % (prime - 2) + 2) {}

  // The result is less than 2^61 + 1 if the factor is less than 2^62.
  std::uint64_t times_point(std::uint64_t factor) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(factor) * point_;
    const std::uint64_t low = static_cast<std::uint64_t>(product) & prime;
    const auto high = static_cast<std::uint64_t>(product >> 61);
    const std::uint64_t folded = low + high;
    return (folded & prime) + (folded >> 61);
  }

  std::uint64_t point_;
};

}  // namespace hs
