// Short runs of bytes, such as names, compared, searched and copied where they stand.
//
// The functions use nothing but what they are given, so any thread may call them. A call of memcmp or
// memcpy costs more than to compare or copy a dozen bytes, and std::string_view::find() is a call that
// makes another one. So these functions are always inlined. The compiler alone would not do it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hs {

// Whether both runs of `size` bytes are equal.
[[gnu::always_inline]] inline bool are_equal(const char* one, const char* other, std::size_t size) {
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
[[gnu::always_inline]] inline bool are_equal(std::string_view one, std::string_view other) {
  return one.size() == other.size() && are_equal(one.data(), other.data(), one.size());
}

// Where the byte stands first; npos: nowhere.
[[gnu::always_inline]] inline std::size_t find_byte(std::string_view bytes, char byte) {
  if (bytes.empty()) return std::string_view::npos;
  const void* const found = std::memchr(bytes.data(), byte, bytes.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
}

// Copies the bytes to `to`, where there is room for them. Returns where they end.
[[gnu::always_inline]] inline char* copy_bytes(char* to, std::string_view bytes) {
  const char* const from = bytes.data();
  const std::size_t size = bytes.size();
  // The two words may have bytes in common.
  const auto copy_words = [&]<class Word>(Word first) {
    Word last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
    return to + size;
  };
  using LongWord = std::array<std::uint64_t, 2>;
  if (size >= sizeof(LongWord) && size <= 2 * sizeof(LongWord)) return copy_words(LongWord{});
  if (size >= sizeof(std::uint64_t) && size < sizeof(LongWord)) return copy_words(std::uint64_t{});
  if (size >= sizeof(std::uint32_t) && size < sizeof(std::uint64_t))
    return copy_words(std::uint32_t{});
  if (size == 0) return to;
  std::memcpy(to, from, size);
  return to + size;
}

}  // namespace hs
