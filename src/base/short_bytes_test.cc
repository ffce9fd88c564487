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

}  // namespace
}  // namespace hs
