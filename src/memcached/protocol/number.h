// Numbers as memcached reads them.
//
// Pure functions, for any thread. A number may have a + or zeros before its digits; a word has nothing
// else.
#pragma once

#include <cstdint>
#include <string_view>

namespace hs::memcached {

// False: the word is none, or it does not fit. `number` changes only if it is one.
[[nodiscard]] bool read_number(std::string_view word, std::uint64_t& number);
[[nodiscard]] bool read_signed(std::string_view word, std::int64_t& number);

// The number that a value is, for incr and decr: blanks may be before and behind it.
[[nodiscard]] bool read_value(std::string_view value, std::uint64_t& number);

// When an item expires whose client has given `exptime`, in ms since 1970: 0 is never, up to 30 days are
// from now on, more is a time since 1970, and less than 0 is at once. As in memcached, "now" is a whole
// second.
inline constexpr std::int64_t at_once = 1;
std::int64_t expiry_of(std::int64_t exptime, std::int64_t now_ms);
// How many seconds are left; -1: it never expires.
std::int64_t seconds_left(std::int64_t expires_ms, std::int64_t now_ms);

}  // namespace hs::memcached
