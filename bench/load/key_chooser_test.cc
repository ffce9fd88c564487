#include "load/key_chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace hs::bench {
namespace {

constexpr int draws = 100'000;

// How often each key was chosen.
std::map<std::uint64_t, int> draw(const KeyRange& range) {
  std::atomic<std::uint64_t> newest = range.first + range.count - 1;
  KeyChooser chooser(range, newest, 7);
  std::map<std::uint64_t, int> seen;
  for (int i = 0; i < draws; ++i) ++seen[chooser.existing()];
  return seen;
}

int most(const std::map<std::uint64_t, int>& seen) {
  return std::ranges::max_element(seen, {}, [](const auto& each) { return each.second; })->second;
}

class EveryDistribution : public testing::TestWithParam<Distribution> {};

TEST_P(EveryDistribution, StaysInItsRange) {
  const auto seen = draw({.first = 100, .count = 50, .hot_keys = 7, .distribution = GetParam()});
  EXPECT_GE(seen.begin()->first, 100U);
  EXPECT_LE(seen.rbegin()->first, 149U);
}

INSTANTIATE_TEST_SUITE_P(All, EveryDistribution,
                         testing::Values(Distribution::uniform, Distribution::zipfian,
                                         Distribution::latest, Distribution::hot,
                                         Distribution::sequential));

TEST(KeyChooser, UniformTakesEachKeyAboutAsOften) {
  const auto seen = draw({.first = 1, .count = 100});
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_LT(most(seen), 1300);  // 1,000 expected
}

TEST(KeyChooser, HotKeysAreAsManyAsAskedAndSpread) {
  const auto seen =
      draw({.first = 1, .count = 1000, .hot_keys = 10, .distribution = Distribution::hot});
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_EQ(seen.rbegin()->first, 901U);
}

TEST(KeyChooser, ZipfianFavoursFewKeysAndScattersThem) {
  const auto seen = draw({.first = 1, .count = 1000, .distribution = Distribution::zipfian});
  // The first of 1,000 ranks has a share of 1 / 7.6.
  EXPECT_GT(most(seen), draws / 10);
  EXPECT_LT(most(seen), draws / 5);
  EXPECT_GT(seen.size(), 400U);
}

TEST(KeyChooser, LatestFavoursTheNewest) {
  const KeyRange range{.first = 1, .count = 1000, .distribution = Distribution::latest};
  std::atomic<std::uint64_t> newest = 1000;
  KeyChooser chooser(range, newest, 7);
  EXPECT_EQ(chooser.insert(), 1001U);
  EXPECT_EQ(newest.load(), 1001U);
  std::map<std::uint64_t, int> seen;
  for (int i = 0; i < draws; ++i) ++seen[chooser.existing()];
  EXPECT_EQ(most(seen), seen[1001]);
}

TEST(KeyChooser, SequentialBeginsAgain) {
  const auto seen = draw({.first = 5, .count = 10, .distribution = Distribution::sequential});
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_EQ(most(seen), draws / 10);
}

}  // namespace
}  // namespace hs::bench
