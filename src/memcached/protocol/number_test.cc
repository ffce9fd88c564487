#include "memcached/protocol/number.h"

#include <gtest/gtest.h>

#include <array>

#include "memcached/protocol/base64.h"

namespace hs::memcached {
namespace {

TEST(MemcachedNumberTest, NumbersOf64Bits) {
  std::uint64_t number = 7;
  EXPECT_TRUE(read_number("18446744073709551615", number));
  EXPECT_EQ(number, ~std::uint64_t{0});
  EXPECT_TRUE(read_number("+0012", number));
  EXPECT_EQ(number, 12U);
  for (const char* const word : {"", "-1", "1x", " 1", "+-1", "++1", "18446744073709551616"})
    EXPECT_FALSE(read_number(word, number)) << word;
  std::int64_t signed_number = 0;
  EXPECT_TRUE(read_signed("-5", signed_number));
  EXPECT_EQ(signed_number, -5);
  EXPECT_FALSE(read_signed("99999999999999999999", signed_number));
}

// memcached looks at nothing behind a blank or a zero byte.
TEST(MemcachedNumberTest, AValueEndsWithItsNumberOrGoesOnBehindABlank) {
  using namespace std::string_view_literals;
  std::uint64_t number = 0;
  for (const std::string_view value : {" 9  "sv, "9"sv, "+9"sv, "\t9\n1"sv, "9 a"sv, "9\0a"sv}) {
    number = 0;
    EXPECT_TRUE(read_value(value, number)) << value;
    EXPECT_EQ(number, 9U) << value;
  }
  for (const std::string_view value :
       {""sv, " "sv, "1a"sv, "-1"sv, "++1"sv, "+ 1"sv, "a 1"sv, "\0"sv, "18446744073709551616"sv})
    EXPECT_FALSE(read_value(value, number)) << value;
}

TEST(MemcachedNumberTest, UpToThirtyDaysAreFromNowOn) {
  constexpr std::int64_t now = 1'700'000'000'900;
  EXPECT_EQ(expiry_of(0, now), 0);
  EXPECT_EQ(expiry_of(-1, now), at_once);
  EXPECT_EQ(expiry_of(1, now), 1'700'000'001'000);
  EXPECT_EQ(expiry_of(2'592'000, now), 1'702'592'000'000);
  EXPECT_EQ(expiry_of(2'592'001, now), at_once);
  EXPECT_EQ(expiry_of(1'800'000'000, now), 1'800'000'000'000);
  EXPECT_EQ(expiry_of(1'700'000'000, now), at_once);
  EXPECT_GT(expiry_of(INT64_MAX, now), now);
  EXPECT_EQ(seconds_left(0, now), -1);
  EXPECT_EQ(seconds_left(expiry_of(60, now), now), 60);
  EXPECT_EQ(seconds_left(at_once, now), 0);
}

TEST(MemcachedNumberTest, Base64HasItsPadding) {
  std::array<char, 6> room{};
  std::string_view bytes;
  EXPECT_TRUE(from_base64("YQ==", room, bytes));
  EXPECT_EQ(bytes, "a");
  EXPECT_TRUE(from_base64("YWJj", room, bytes));
  EXPECT_EQ(bytes, "abc");
  for (const char* const text : {"", "YQ", "Y!==", "=Q==", "Y===", "YWJjYWJjYWJj"})
    EXPECT_FALSE(from_base64(text, room, bytes)) << text;
}

}  // namespace
}  // namespace hs::memcached
