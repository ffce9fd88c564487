// Numbers as Redis reads and writes them.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace hs::redis {

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

// A whole number in its one spelling that fits. `number` changes only then.
[[nodiscard]] bool read_integer(std::string_view text, std::int64_t& number);
// What HINCRBYFLOAT takes: any number that is finite, without blanks around it.
[[nodiscard]] bool is_float(std::string_view text);
[[nodiscard]] bool is_infinity(std::string_view text);

}  // namespace hs::redis
