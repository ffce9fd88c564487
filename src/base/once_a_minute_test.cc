#include "base/once_a_minute.h"

#include <gtest/gtest.h>

namespace hs {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

TEST(OnceAMinute, IsDueAtFirstAndAfterAMinute) {
  OnceAMinute line;
  EXPECT_TRUE(line.is_due(second));
  EXPECT_FALSE(line.is_due(second));
  EXPECT_FALSE(line.is_due(60 * second));
  EXPECT_TRUE(line.is_due(61 * second));
  EXPECT_FALSE(line.is_due(62 * second));
}

}  // namespace
}  // namespace hs
