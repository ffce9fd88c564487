// Escaping: a byte from 0x00 to 0x0F is sent as 0x01 followed by the byte + 0x40.
//
// Pure functions, for any thread.
#pragma once

#include <string_view>

#include "base/buffer.h"

namespace hs::handlersocket {

inline constexpr unsigned char escape_prefix = 0x01;
inline constexpr unsigned char escape_shift = 0x40;
inline constexpr unsigned char first_plain_byte = 0x10;

// Appends `bytes` escaped. Where nothing has to be escaped, it takes 16 bytes at a time.
void append_escaped(Buffer& out, std::string_view bytes);

// Appends `token` unescaped. If a 0x01 is followed by anything except 0x40 to 0x4F, returns false
// and leaves `out` unchanged.
[[nodiscard]] bool append_unescaped(Buffer& out, std::string_view token);

}  // namespace hs::handlersocket
