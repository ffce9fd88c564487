#include "handlersocket/protocol/lookup.h"

#include <optional>

namespace hs::handlersocket {
namespace {

// Such short numbers surely fit.
constexpr std::size_t most_digits = 9;

// A number with a TAB behind it, which is passed, too.
std::optional<std::uint64_t> number(std::string_view input, std::size_t& at) {
  std::uint64_t value = 0;
  const std::size_t begin = at;
  for (; at < input.size() && at - begin <= most_digits; ++at) {
    const unsigned digit = static_cast<unsigned char>(input[at]) - '0';
    if (digit > 9) break;
    value = value * 10 + digit;
  }
  const std::size_t digits = at - begin;
  if (digits == 0 || digits > most_digits || at == input.size() || input[at] != '\t')
    return std::nullopt;
  ++at;
  return value;
}

}  // namespace

PlainLookup plain_lookup(std::string_view input, std::span<store::Value> key) {
  std::size_t at = 0;
  const auto id = number(input, at);
  if (!id || input.size() - at < 2 || input[at] != '=' || input[at + 1] != '\t') return {};
  at += 2;
  const auto parts = number(input, at);
  if (!parts || *parts == 0 || *parts > key.size()) return {};
  for (std::size_t part = 0; part < *parts; ++part) {
    const std::size_t begin = at;
    // A NULL, an escape and a CR are below a space, too.
    while (at < input.size() && static_cast<unsigned char>(input[at]) >= ' ') ++at;
    const char expected = part + 1 == *parts ? '\n' : '\t';
    if (at == input.size() || input[at] != expected) return {};
    key[part] = {.bytes = input.substr(begin, at - begin)};
    ++at;
  }
  return {.id = *id, .parts = static_cast<std::size_t>(*parts), .end = at};
}

}  // namespace hs::handlersocket
