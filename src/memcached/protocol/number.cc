#include "memcached/protocol/number.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace hs::memcached {
namespace {

constexpr std::int64_t ms_per_second = 1000;

template <class Number>
bool read_whole(std::string_view word, Number& number) {
  if (word.starts_with('+')) {
    word.remove_prefix(1);
    if (word.starts_with('-')) return false;
  }
  Number read = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, read);
  if (error != std::errc{} || stop != end) return false;
  number = read;
  return true;
}

constexpr bool is_blank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

}  // namespace

bool read_number(std::string_view word, std::uint64_t& number) { return read_whole(word, number); }

bool read_signed(std::string_view word, std::int64_t& number) { return read_whole(word, number); }

bool read_value(std::string_view value, std::uint64_t& number) {
  while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
  const auto end =
      std::ranges::find_if(value, [](char byte) { return byte == '\0' || is_blank(byte); });
  return read_number({value.begin(), end}, number);
}

std::int64_t expiry_of(std::int64_t exptime, std::int64_t now_ms) {
  constexpr std::int64_t most_relative = std::int64_t{60} * 60 * 24 * 30;
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if (exptime == 0) return 0;
  if (exptime < 0) return at_once;
  const std::int64_t now = now_ms / ms_per_second;
  const std::int64_t at = exptime > most_relative ? std::min(exptime, most) : now + exptime;
  return at <= now ? at_once : at * ms_per_second;
}

std::int64_t seconds_left(std::int64_t expires_ms, std::int64_t now_ms) {
  if (expires_ms == 0) return -1;
  return std::max<std::int64_t>(expires_ms / ms_per_second - now_ms / ms_per_second, 0);
}

}  // namespace hs::memcached
