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

// Where the number of digits changes, and in between.
TEST(ShortNumber, HasAllOfItsDigits) {
  for (std::uint64_t power = 1; power <= 1'000'000'000'000; power *= 10) {
    for (const std::uint64_t number : {power - 1, power, power + 1, 4 * power + power / 3}) {
      EXPECT_EQ(written(number), std::to_string(number));
      EXPECT_EQ(written(-static_cast<std::int64_t>(number)),
                std::to_string(-static_cast<std::int64_t>(number)));
      EXPECT_EQ(written(static_cast<std::uint32_t>(number)),
                std::to_string(static_cast<std::uint32_t>(number)));
    }
  }
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t number = std::uint64_t{1} << bit;
    EXPECT_EQ(written(number), std::to_string(number));
    EXPECT_EQ(written(number - 1), std::to_string(number - 1));
  }
}

// Smaller types, each of their values.
TEST(ShortNumber, MayBeOfAnySize) {
  for (int number = -32768; number <= 32767; ++number)
    EXPECT_EQ(written(static_cast<std::int16_t>(number)), std::to_string(number));
  for (int number = -128; number <= 127; ++number)
    EXPECT_EQ(written(static_cast<std::int8_t>(number)), std::to_string(number));
}

TEST(ShortNumber, ThereIsRoomForTheLargest) {
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

}  // namespace
}  // namespace hs
