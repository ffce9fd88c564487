// Spelling: what the digits of a key and of a number may look like.
//
// Pure functions, for any thread. They know no column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace hs::keys {

constexpr bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// -1: it is none.
constexpr int hex_digit(char byte) {
  if (is_digit(byte)) return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

// Whether the text is the one spelling of a whole number: no sign but that of a negative one, no zero
// before other digits and no blank.
constexpr bool is_whole_number(std::string_view text, bool may_be_negative = true) {
  if (may_be_negative && text.starts_with('-')) {
    text.remove_prefix(1);
    if (text.starts_with('0')) return false;
  }
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  for (const char byte : text) {
    if (!is_digit(byte)) return false;
  }
  return true;
}

// A number without the zeros that ZEROFILL puts before it.
constexpr std::string_view without_zeros(std::string_view number) {
  if (number.starts_with('-')) return number;
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::size_t first = number.find_first_not_of('0');
  const std::size_t last_zero = point == 0 ? 0 : point - 1;
  return number.substr(std::min(first, last_zero));
}

}  // namespace hs::keys
