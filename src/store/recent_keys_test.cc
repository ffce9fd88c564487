#include "store/recent_keys.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace hs::store {
namespace {

std::size_t known_of(RecentKeys& keys, std::mt19937_64& random, std::uint64_t rows) {
  constexpr std::size_t lookups = 20'000;
  std::size_t known = 0;
  for (std::size_t i = 0; i < lookups; ++i) known += keys.note(random() % rows) ? 1 : 0;
  return known * 100 / lookups;
}

TEST(RecentKeys, KnowsAKeyTheSecondTime) {
  RecentKeys keys;
  EXPECT_FALSE(keys.note(7));
  EXPECT_TRUE(keys.note(7));
  EXPECT_FALSE(keys.note(8));
}

TEST(RecentKeys, KnowsMostOfFewRowsAndHardlyAnyOfMany) {
  RecentKeys keys;
  std::mt19937_64 random(1);
  EXPECT_GT(known_of(keys, random, 1000), 75U);
  EXPECT_LT(known_of(keys, random, 1'000'000), 3U);
  EXPECT_GT(known_of(keys, random, 1000), 75U);
}

}  // namespace
}  // namespace hs::store
