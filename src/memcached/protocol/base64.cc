#include "memcached/protocol/base64.h"

#include <cstddef>
#include <cstdint>

namespace hs::memcached {
namespace {

constexpr int none = -1;

constexpr int digit_of(char byte) {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A';
  if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
  if (byte >= '0' && byte <= '9') return byte - '0' + 52;
  if (byte == '+') return 62;
  return byte == '/' ? 63 : none;
}

}  // namespace

bool from_base64(std::string_view text, std::span<char> room, std::string_view& bytes) {
  constexpr std::size_t group = 4;
  if (text.empty() || text.size() % group != 0 || text.size() / group * 3 > room.size())
    return false;
  std::size_t padding = 0;
  while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
  char* to = room.data();
  for (std::size_t at = 0; at < text.size(); at += group) {
    const std::size_t padded = at + group == text.size() ? padding : 0;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < group; ++i) {
      const int digit = i >= group - padded ? 0 : digit_of(text[at + i]);
      if (digit == none) return false;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t i = 0; i < 3 - padded; ++i) *to++ = static_cast<char>(bits >> (16 - 8 * i));
  }
  bytes = {room.data(), static_cast<std::size_t>(to - room.data())};
  return true;
}

}  // namespace hs::memcached
