// Writes a number in its decimal form. It is fastest with few digits, which most sizes, flags and keys have.
//
// A pure function, for any thread.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace hs {

// The digits of any 64-bit number, with its sign.
inline constexpr std::size_t most_number_digits = 20;

// The digits "00" to "99", one after the other.
inline constexpr auto two_digits = [] {
  std::array<char, 200> digits{};
  for (std::size_t i = 0; i < 100; ++i) {
    digits[2 * i] = static_cast<char>('0' + i / 10);
    digits[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return digits;
}();

// `value` must be less than 100. Returns where the digits end.
[[gnu::always_inline]] inline char* write_two_digits(char* to, std::uint32_t value) {
  std::memcpy(to, two_digits.data() + std::size_t{2} * value, 2);
  return to + 2;
}

// How many digits the number has.
constexpr std::uint32_t count_digits(std::uint32_t number) {
  constexpr std::array<std::uint32_t, 10> powers{
      1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
  // 1233 / 4096 is nearly log10(2). So this is the number of digits, or one less.
  const auto bits = static_cast<std::uint32_t>(std::bit_width(number | 1));
  const std::uint32_t digits = (bits * 1233) >> 12;
  return digits + (number >= powers[digits] ? 1 : 0);
}

// Writes it at `to`, where there is room for most_number_digits. Returns where it ends.
template <std::integral Number>
char* write_number(char* to, Number number) {
  constexpr auto largest = std::numeric_limits<std::uint32_t>::max();
  if (std::cmp_less(number, 0) || std::cmp_greater(number, largest)) [[unlikely]]
    return std::to_chars(to, to + most_number_digits, number).ptr;
  auto left = static_cast<std::uint32_t>(static_cast<std::make_unsigned_t<Number>>(number));
  if (left < 10) {
    *to = static_cast<char>('0' + left);
    return to + 1;
  }
  if (left < 100) return write_two_digits(to, left);
  char* const end = to + count_digits(left);
  char* at = end;
  for (; left >= 100; left /= 100) write_two_digits(at -= 2, left % 100);
  if (left >= 10) {
    write_two_digits(to, left);
  } else {
    *to = static_cast<char>('0' + left);
  }
  return end;
}

}  // namespace hs
