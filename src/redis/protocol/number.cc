#include "redis/protocol/number.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace hs::redis {

bool read_integer(std::string_view text, std::int64_t& number) {
  if (!is_whole_number(text)) return false;
  std::int64_t read = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), read).ec != std::errc{}) return false;
  number = read;
  return true;
}

namespace {

// False: it is no number at all.
bool read_double(std::string_view text, double& number) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return false;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace

bool is_float(std::string_view text) {
  double number = 0;
  return read_double(text, number) && std::isfinite(number);
}

bool read_long_double(std::string_view text, long double& number) {
  constexpr std::size_t most_bytes = 5119;  // as in Redis
  constexpr std::string_view blanks = " \t\n\v\f\r";
  if (text.empty() || text.size() > most_bytes || blanks.find(text[0]) != blanks.npos) return false;
  const std::string copy(text);
  char* stop = nullptr;
  errno = 0;
  const long double read = std::strtold(copy.c_str(), &stop);
  if (stop != copy.c_str() + copy.size() || std::isnan(read)) return false;
  if (errno == ERANGE && (std::isinf(read) || read == 0)) return false;
  number = read;
  return true;
}

long double long_double_of(std::string_view text) {
  return std::strtold(std::string(text).c_str(), nullptr);
}

std::string text_of(long double number) {
  std::array<char, 5200> room;
  const int size = std::snprintf(room.data(), room.size(), "%.17Lf", number);
  std::string text(room.data(), static_cast<std::size_t>(size));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

bool is_infinity(std::string_view text) {
  double number = 0;
  return read_double(text, number) && std::isinf(number);
}

}  // namespace hs::redis
