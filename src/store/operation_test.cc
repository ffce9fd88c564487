#include "store/operation.h"

#include <gtest/gtest.h>

#include <vector>

namespace hs::store {
namespace {

constexpr Comparison every_comparison[] = {Comparison::equal,         Comparison::greater,
                                           Comparison::greater_equal, Comparison::less,
                                           Comparison::less_equal,    Comparison::not_equal};

TEST(Comparison, HoldsForTheOrdersThatItNames) {
  // For less than, equal to and greater than.
  const std::vector<std::vector<bool>> expected{{false, true, false}, {false, false, true},
                                                {false, true, true},  {true, false, false},
                                                {true, true, false},  {true, false, true}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (const int order : {-1, 0, 1}) {
      EXPECT_EQ(holds(every_comparison[i], 7 * order), expected[i][order + 1]) << i << order;
    }
  }
}

TEST(Range, ContainsTheRowsForWhichItsComparisonHolds) {
  for (const Comparison comparison : every_comparison) {
    if (comparison == Comparison::not_equal) continue;
    for (const int order : {-7, 0, 7}) {
      EXPECT_EQ(range_of(comparison).contains(order), holds(comparison, order));
    }
  }
}

TEST(Selection, SaysWhatStoresRelyOn) {
  const std::vector<Value> values(2, Value{"1"});
  const Selection valid{.key = values, .in = {1, values}};
  EXPECT_TRUE(valid.is_valid());
  Selection one = valid;
  one.key = {};
  EXPECT_FALSE(one.is_valid());
  one = valid;
  one.limit = 0;
  EXPECT_FALSE(one.is_valid());
  one = valid;
  one.in.key_part = 2;
  EXPECT_FALSE(one.is_valid());
  one.in.values = {};
  EXPECT_TRUE(one.is_valid()) << "there is no IN";
  one = valid;
  one.range.direction = Direction::down;
  EXPECT_FALSE(one.is_valid()) << "equal rows are read in the order of the index";
  one.range.bound = Bound::within;
  EXPECT_TRUE(one.is_valid());
  one.key = {};
  one.in = {};
  EXPECT_TRUE(one.is_valid()) << "the whole index";
  one.lower.values = values;
  EXPECT_TRUE(one.is_valid());
  EXPECT_EQ(one.key_parts(), 2U);
  one.key = values;
  one.range = range_of(Comparison::greater);
  EXPECT_FALSE(one.is_valid()) << "only a range within a key has ends";
}

}  // namespace
}  // namespace hs::store
