// Packets of the binary protocol, as a client writes them. For tests.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "memcached/protocol/binary_packet.h"

namespace hs::memcached {

inline std::string packet(std::uint8_t opcode, std::string_view key = {},
                          std::string_view extras = {}, std::string_view value = {},
                          std::uint64_t cas = 0, std::uint32_t opaque = 0) {
  const std::size_t body = extras.size() + key.size() + value.size();
  std::array<char, BinaryHeader::size> header{};
  write_reply_header(header.data(), {.opcode = opcode,
                                     .key = static_cast<std::uint16_t>(key.size()),
                                     .extras = static_cast<std::uint8_t>(extras.size()),
                                     .body = static_cast<std::uint32_t>(body),
                                     .opaque = opaque,
                                     .cas = cas});
  header[0] = '\x80';
  std::string text(header.data(), header.size());
  for (const std::string_view part : {extras, key, value}) text += part;
  return text;
}

}  // namespace hs::memcached
