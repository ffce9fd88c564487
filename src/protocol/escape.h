// Escaping: bytes 0x00 to 0x0F travel as 0x01 followed by the byte + 0x40.
//
// Pure functions, any thread.
#pragma once

#include <string_view>

#include "base/buffer.h"

namespace hs::protocol {

inline constexpr unsigned char escape_prefix = 0x01;
inline constexpr unsigned char escape_shift = 0x40;
inline constexpr unsigned char first_plain_byte = 0x10;

// Appends `bytes` escaped; 16 bytes at a time where nothing needs it.
void append_escaped(Buffer& out, std::string_view bytes);

// Appends `token` unescaped. False, with `out` as it was, if a 0x01 is followed
// by anything but 0x40 to 0x4F.
[[nodiscard]] bool append_unescaped(Buffer& out, std::string_view token);

}  // namespace hs::protocol
