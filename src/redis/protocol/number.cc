#include "redis/protocol/number.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace hs::redis {

bool read_integer(std::string_view text, std::int64_t& number) {
  if (!is_whole_number(text)) return false;
  std::int64_t read = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), read).ec != std::errc{}) return false;
  number = read;
  return true;
}

bool is_float(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return false;
  }
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end && std::isfinite(number);
}

}  // namespace hs::redis
