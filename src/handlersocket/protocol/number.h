// Numbers of the protocol: decimal digits and nothing else.
//
// Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/buffer.h"
#include "base/short_number.h"

namespace hs::handlersocket {

constexpr bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// read_number() of a token that may have any number of digits.
template <typename Number>
[[nodiscard]] constexpr bool read_digits(std::string_view token, Number& number) {
  constexpr std::uint64_t greatest = std::numeric_limits<Number>::max();
  // So many digits cannot overflow. Only longer tokens are checked digit by digit.
  constexpr std::size_t safe_digits = std::numeric_limits<std::uint64_t>::digits10;
  if (token.empty()) return false;
  std::uint64_t value = 0;
  for (const char byte : token) {
    if (!is_digit(byte)) return false;
    const auto digit = static_cast<std::uint64_t>(byte - '0');
    if (token.size() > safe_digits && value > (greatest - digit) / 10) [[unlikely]]
      return false;
    value = value * 10 + digit;
  }
  if (value > greatest) return false;
  number = static_cast<Number>(value);
  return true;
}

// Reads a token that consists of a number only: no sign, no blank, not empty, and small enough.
// Leading zeros are allowed. `number` is only changed on success. Most numbers in a request have
// one digit.
template <typename Number>
[[nodiscard]] constexpr bool read_number(std::string_view token, Number& number) {
  if (token.size() != 1 || !is_digit(token.front())) return read_digits(token, number);
  number = static_cast<Number>(token.front() - '0');
  return true;
}

inline void append_number(Buffer& out, std::uint64_t number) {
  out.advance_to(write_number(out.reserve(most_number_digits), number));
}

}  // namespace hs::handlersocket
