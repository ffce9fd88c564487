#include "base/short_number.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace hs {
namespace {

template <class Number>
std::string written(Number number) {
  std::array<char, most_number_digits> room{};
  const char* const end = write_number(room.data(), number);
  return {room.data(), static_cast<std::size_t>(end - room.data())};
}

TEST(ShortNumber, IsWrittenAsInDecimal) {
  for (int number = -1001; number <= 1001; ++number) {
    EXPECT_EQ(written(number), std::to_string(number));
    EXPECT_EQ(written(std::int64_t{number}), std::to_string(number));
  }
  for (std::uint32_t number = 0; number <= 1001; ++number)
    EXPECT_EQ(written(number), std::to_string(number));
}

TEST(ShortNumber, ThereIsRoomForTheLargest) {
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

}  // namespace
}  // namespace hs
