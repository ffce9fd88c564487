// Whether bytes are ASCII alone.
//
// A pure function, for any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace hs {

inline bool is_ascii(std::string_view bytes) {
  std::uint64_t seen = 0;
  for (; bytes.size() >= sizeof(seen); bytes.remove_prefix(sizeof(seen))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    seen |= word;
  }
  for (const char byte : bytes) seen |= static_cast<unsigned char>(byte);
  return (seen & 0x8080808080808080ULL) == 0;
}

}  // namespace hs
