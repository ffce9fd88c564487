#include "redis/session/scan_positions.h"

#include <gtest/gtest.h>

#include <string>

namespace hs::redis {
namespace {

ScanPosition at(std::string account, std::string key) {
  return {.account = std::move(account), .pattern = "db.t:*", .key = {std::move(key)}};
}

TEST(ScanPositionsTest, BelongsToAnAccount) {
  ScanPositions positions;
  const std::uint64_t cursor = positions.add(0, at("ann", "5"));
  EXPECT_GT(cursor, 0u);
  EXPECT_LT(cursor, std::uint64_t{1} << 53);
  EXPECT_EQ(positions.find(cursor, "ann")->key, ScanKey{"5"});
  EXPECT_FALSE(positions.find(cursor, "bob"));
  EXPECT_FALSE(positions.find(cursor + 1, "ann"));
}

TEST(ScanPositionsTest, KeepsTwoOfEachScan) {
  ScanPositions positions;
  std::uint64_t cursor = positions.add(0, at("ann", "0"));
  const std::uint64_t other = positions.add(0, at("ann", "x"));
  std::uint64_t before = 0;
  for (int i = 1; i < 10'000; ++i) {
    before = cursor;
    cursor = positions.add(cursor, at("ann", std::to_string(i)));
  }
  EXPECT_EQ(positions.size(), 3u);
  EXPECT_TRUE(positions.find(before, "ann"));
  EXPECT_TRUE(positions.find(other, "ann"));
  positions.end(cursor);
  EXPECT_TRUE(positions.find(cursor, "ann"));
  EXPECT_EQ(positions.size(), 2u);
}

TEST(ScanPositionsTest, GivesUpWhatWasNotUsedForTheLongestTime) {
  ScanPositions positions;
  const std::uint64_t used = positions.add(0, at("ann", "0"));
  const std::uint64_t unused = positions.add(0, at("ann", "1"));
  for (std::size_t i = 0; i < ScanPositions::most; ++i) {
    positions.add(0, at("ann", "2"));
    EXPECT_TRUE(positions.find(used, "ann"));
  }
  EXPECT_EQ(positions.size(), ScanPositions::most);
  EXPECT_FALSE(positions.find(unused, "ann"));
}

TEST(ScanPositionsTest, AnAccountThatScansMuchTakesNothingFromOthers) {
  ScanPositions positions;
  const std::uint64_t of_ann = positions.add(0, at("ann", "0"));
  const std::uint64_t of_cat = positions.add(0, at("cat", std::string(1 << 20, 'x')));
  for (std::size_t i = 0; i < 2 * ScanPositions::most; ++i) positions.add(0, at("bob", "2"));
  for (std::size_t i = 0; i < 100; ++i) positions.add(0, at("bob", std::string(1 << 20, 'x')));
  EXPECT_TRUE(positions.find(of_ann, "ann"));
  EXPECT_TRUE(positions.find(of_cat, "cat"));
}

TEST(ScanPositionsTest, HasABoundInBytes) {
  ScanPositions positions;
  for (std::size_t i = 0; i < 100; ++i) positions.add(0, at("ann", std::string(1 << 20, 'x')));
  EXPECT_LT(positions.size(), 17u);
  EXPECT_GE(positions.size(), 1u);
}

}  // namespace
}  // namespace hs::redis
