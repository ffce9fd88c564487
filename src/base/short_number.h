// Writes a number in its decimal form. It is fastest with one digit or two, which most sizes and flags have.
//
// A pure function, for any thread.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace hs {

// The digits of any 64-bit number, with its sign.
inline constexpr std::size_t most_number_digits = 20;

// Writes it at `to`, where there is room for most_number_digits. Returns where it ends.
template <std::integral Number>
char* write_number(char* to, Number number) {
  if (number < 0 || number >= 100) [[unlikely]]
    return std::to_chars(to, to + most_number_digits, number).ptr;
  const auto small = static_cast<std::uint32_t>(number);
  if (small >= 10) *to++ = static_cast<char>('0' + small / 10);
  *to++ = static_cast<char>('0' + small % 10);
  return to;
}

}  // namespace hs
