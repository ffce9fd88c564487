// BinaryHeader: the header of a packet of memcached's binary protocol.
//
// Pure functions, for any thread. All numbers have their highest byte first.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hs::memcached {

// From the first bytes of `bytes`.
template <class Number>
Number read_big(std::string_view bytes) {
  assert(bytes.size() >= sizeof(Number));
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number = static_cast<Number>(number << 8 | static_cast<unsigned char>(bytes[i]));
  return number;
}

template <class Number>
char* write_big(char* to, Number number) {
  for (std::size_t i = sizeof(Number); i-- != 0;) *to++ = static_cast<char>(number >> (8 * i));
  return to;
}

struct BinaryHeader {
  static constexpr std::size_t size = 24;
  static constexpr unsigned char reply_magic = 0x81;

  std::uint8_t opcode = 0;
  std::uint16_t key = 0;    // so many bytes
  std::uint8_t extras = 0;  // the same
  std::uint16_t status = 0;
  std::uint32_t body = 0;  // extras, key and value
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
};

inline BinaryHeader read_header(std::string_view bytes) {
  return {.opcode = read_big<std::uint8_t>(bytes.substr(1)),
          .key = read_big<std::uint16_t>(bytes.substr(2)),
          .extras = read_big<std::uint8_t>(bytes.substr(4)),
          .status = read_big<std::uint16_t>(bytes.substr(6)),
          .body = read_big<std::uint32_t>(bytes.substr(8)),
          .opaque = read_big<std::uint32_t>(bytes.substr(12)),
          .cas = read_big<std::uint64_t>(bytes.substr(16))};
}

inline char* write_reply_header(char* to, const BinaryHeader& header) {
  to = write_big(to, std::uint8_t{BinaryHeader::reply_magic});
  to = write_big(to, header.opcode);
  to = write_big(to, header.key);
  to = write_big(to, header.extras);
  to = write_big(to, std::uint8_t{0});  // the type of the data, which is not used
  to = write_big(to, header.status);
  to = write_big(to, header.body);
  to = write_big(to, header.opaque);
  return write_big(to, header.cas);
}

}  // namespace hs::memcached
