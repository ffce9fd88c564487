#include "redis/protocol/plain_command.h"

#include <optional>

namespace hs::redis {
namespace {

// Such short numbers surely fit.
constexpr std::size_t most_digits = 9;

// A number behind its mark, with CR and LF behind it, all of which are passed.
std::optional<std::size_t> number(char mark, std::string_view input, std::size_t& at) {
  if (at == input.size() || input[at] != mark) return std::nullopt;
  ++at;
  std::size_t value = 0;
  const std::size_t begin = at;
  for (; at < input.size() && at - begin <= most_digits; ++at) {
    const unsigned digit = static_cast<unsigned char>(input[at]) - '0';
    if (digit > 9) break;
    value = value * 10 + digit;
  }
  const std::size_t digits = at - begin;
  if (digits == 0 || digits > most_digits || input.size() - at < 2 || input[at] != '\r' ||
      input[at + 1] != '\n')
    return std::nullopt;
  at += 2;
  return value;
}

}  // namespace

PlainCommand plain_command(std::string_view input, std::span<std::string_view> words) {
  std::size_t at = 0;
  const auto count = number('*', input, at);
  if (!count || *count == 0 || *count > words.size()) return {};
  for (std::size_t word = 0; word < *count; ++word) {
    const auto size = number('$', input, at);
    if (!size || input.size() - at < 2 || input.size() - at - 2 < *size) return {};
    words[word] = input.substr(at, *size);
    at += *size;
    if (input[at] != '\r' || input[at + 1] != '\n') return {};
    at += 2;
  }
  return {.words = *count, .size = at};
}

}  // namespace hs::redis
