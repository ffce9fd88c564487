#include "base/short_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace hs {
namespace {

TEST(ShortBytes, EachByteCountsAtEachSize) {
  constexpr std::size_t most = 40;
  for (std::size_t size = 0; size <= most; ++size) {
    // What is behind them does not count.
    const std::string one = std::string(size, 'a') + 'x';
    std::string other = std::string(size, 'a') + 'y';
    EXPECT_TRUE(are_equal(one.data(), other.data(), size)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      other[at] = 'b';
      EXPECT_FALSE(are_equal(one.data(), other.data(), size)) << size << ' ' << at;
      other[at] = 'a';
    }
  }
}

TEST(ShortBytes, ViewsOfDifferentSizesDiffer) {
  EXPECT_TRUE(are_equal("", ""));
  EXPECT_TRUE(are_equal({}, ""));
  EXPECT_TRUE(are_equal("name", "name"));
  EXPECT_FALSE(are_equal("name", "names"));
  EXPECT_FALSE(are_equal("names", "name"));
}

TEST(ShortBytes, AByteIsFoundWhereItStandsFirst) {
  EXPECT_EQ(find_byte("a:b:c", ':'), 1u);
  EXPECT_EQ(find_byte(":", ':'), 0u);
  EXPECT_EQ(find_byte(std::string_view("abc:", 3), ':'), std::string_view::npos);
  EXPECT_EQ(find_byte({}, ':'), std::string_view::npos);
  EXPECT_EQ(find_byte("a\xff", '\xff'), 1u);
}

TEST(ShortBytes, CopiesEachSizeAndNothingBehindIt) {
  constexpr std::size_t most = 80;
  for (std::size_t size = 0; size <= most; ++size) {
    std::string from;
    for (std::size_t i = 0; i < size; ++i) from.push_back(static_cast<char>('!' + i));
    std::string to(size + 2, '\0');
    EXPECT_EQ(copy_bytes(to.data() + 1, from), to.data() + 1 + size);
    EXPECT_EQ(to, '\0' + from + '\0') << size;
  }
  char room = 'x';
  EXPECT_EQ(copy_bytes(&room, {}), &room);
  EXPECT_EQ(room, 'x');
}

}  // namespace
}  // namespace hs
