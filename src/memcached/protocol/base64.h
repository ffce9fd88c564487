// Base64, in which keys of meta commands may be written.
//
// Pure functions, for any thread.
#pragma once

#include <span>
#include <string_view>

namespace hs::memcached {

// The bytes, in `room`. False: it is no base64 with its padding, or there is too little room.
[[nodiscard]] bool from_base64(std::string_view text, std::span<char> room,
                               std::string_view& bytes);

}  // namespace hs::memcached
