#include "load/histogram.h"

#include <gtest/gtest.h>

namespace hs::bench {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.total(), 0U);
  EXPECT_EQ(histogram.at(0.5), 0U);
  EXPECT_EQ(histogram.max(), 0U);
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 1000; ++value) histogram.record(value);
  EXPECT_EQ(histogram.at(0.5), 500U);
  EXPECT_EQ(histogram.at(0.99), 990U);
  EXPECT_EQ(histogram.at(1), 1000U);
}

TEST(Histogram, AnyValueIsWithinAThousandth) {
  for (std::uint64_t value = 1; value < Histogram::greatest; value += 1 + value / 3) {
    Histogram histogram;
    histogram.record(value);
    // There has to be a greater value, or the maximum would be returned.
    histogram.record(Histogram::greatest);
    const std::uint64_t seen = histogram.at(0.5);
    ASSERT_GE(seen, value);
    ASSERT_LE(seen - value, value / 1000);
  }
}

TEST(Histogram, WhatTakesTooLongCountsAsTheLongest) {
  Histogram histogram;
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.max(), Histogram::greatest);
  EXPECT_EQ(histogram.at(0.5), Histogram::greatest);
}

TEST(Histogram, CountsAndMergesLikeSingleRecords) {
  Histogram one;
  Histogram other;
  one.record(10, 3);
  other.record(5000, 7);
  one.merge(other);
  EXPECT_EQ(one.total(), 10U);
  EXPECT_EQ(one.at(0.3), 10U);
  EXPECT_GE(one.at(0.31), 5000U);
  EXPECT_EQ(one.max(), 5000U);
}

}  // namespace
}  // namespace hs::bench
