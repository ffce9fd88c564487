// Short runs of bytes, such as names, compared where they stand.
//
// A pure function, for any thread. A call of memcmp costs more than to compare a name of a dozen bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hs {

// Whether both runs of `size` bytes are equal.
inline bool are_equal(const char* one, const char* other, std::size_t size) {
  const auto differ = [&]<class Word>(Word /*of so many bytes*/, std::size_t at) {
    Word left;
    Word right;
    std::memcpy(&left, one + at, sizeof left);
    std::memcpy(&right, other + at, sizeof right);
    return left ^ right;
  };
  // The two words may have bytes in common.
  constexpr std::size_t long_word = sizeof(std::uint64_t);
  constexpr std::size_t short_word = sizeof(std::uint32_t);
  constexpr std::size_t shortest_word = sizeof(std::uint16_t);
  if (size >= long_word && size <= 2 * long_word)
    return (differ(std::uint64_t{}, 0) | differ(std::uint64_t{}, size - long_word)) == 0;
  if (size >= short_word && size < long_word)
    return (differ(std::uint32_t{}, 0) | differ(std::uint32_t{}, size - short_word)) == 0;
  if (size >= shortest_word && size < short_word)
    return (differ(std::uint16_t{}, 0) | differ(std::uint16_t{}, size - shortest_word)) == 0;
  return size == 0 || std::memcmp(one, other, size) == 0;
}

}  // namespace hs
