// Spelling: what the digits of a key and of a number may look like.
//
// Pure functions, for any thread. They know no column.
#pragma once

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

}  // namespace hs::keys
