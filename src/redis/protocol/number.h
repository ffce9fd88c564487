// Numbers as Redis reads and writes them.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "keys/spelling.h"

namespace hs::redis {

using keys::hex_digit;
using keys::is_digit;
using keys::is_whole_number;

// A whole number in its one spelling that fits. `number` changes only then.
[[nodiscard]] bool read_integer(std::string_view text, std::int64_t& number);
// What HINCRBYFLOAT takes: any number that is finite, without blanks around it.
[[nodiscard]] bool is_float(std::string_view text);
[[nodiscard]] bool is_infinity(std::string_view text);
// What INCRBYFLOAT takes: a number, or infinity, in any form that C knows. `number` changes only then.
[[nodiscard]] bool read_long_double(std::string_view text, long double& number);
// Of a text that is_float().
long double long_double_of(std::string_view text);
// As Redis writes a long double for people: 17 digits behind the point, without the zeros at the end.
std::string text_of(long double number);

}  // namespace hs::redis
