#include "base/latency.h"

#include <gtest/gtest.h>

namespace hs {
namespace {

TEST(Latency, BucketsJoinWithoutGaps) {
  EXPECT_EQ(latency_bucket_low(0), 0U);
  for (std::size_t bucket = 0; bucket + 1 < latency_bucket_count; ++bucket) {
    EXPECT_EQ(latency_bucket_high(bucket), latency_bucket_low(bucket + 1));
    EXPECT_EQ(latency_bucket_of(latency_bucket_low(bucket)), bucket);
    EXPECT_EQ(latency_bucket_of(latency_bucket_high(bucket) - 1), bucket);
  }
  EXPECT_EQ(latency_bucket_of(latency_bucket_low(latency_bucket_count - 1)),
            latency_bucket_count - 1);
  EXPECT_EQ(latency_bucket_of(~std::uint64_t{0}), latency_bucket_count - 1);
}

TEST(Latency, EachShownBucketEndsAtFourTimesTheOneBefore) {
  std::uint64_t expected = 128;
  for (const std::size_t bucket : shown_latency_buckets) {
    EXPECT_EQ(latency_bucket_high(bucket), expected);
    expected *= 4;
  }
}

TEST(Latency, RequestsOfATurnCountByTheirKind) {
  Latencies latencies;
  RequestCounts answered{};
  for (int i = 0; i < 99; ++i) answered.add(RequestKind::find);
  answered.add(RequestKind::insert);
  EXPECT_EQ(answered.last, RequestKind::insert);
  latencies.add(answered, 5'999);
  answered = {};
  answered.add(RequestKind::find);
  latencies.add(answered, 2'000'000'000);

  Latency finds;
  latencies.add_up(RequestKind::find, finds);
  EXPECT_EQ(finds.count(), 100U);
  EXPECT_EQ(finds.buckets[latency_bucket_of(5)], 99U);
  EXPECT_EQ(finds.buckets[latency_bucket_of(2'000'000)], 1U);
  EXPECT_EQ(finds.sum_us, 99U * 5 + 2'000'000);
  EXPECT_EQ(finds.count_up_to(latency_bucket_of(5) - 1), 0U);
  EXPECT_EQ(finds.count_up_to(latency_bucket_of(5)), 99U);
  EXPECT_EQ(finds.count_up_to(latency_bucket_of(2'000'000)), 100U);
  Latency inserts;
  latencies.add_up(RequestKind::insert, inserts);
  EXPECT_EQ(inserts.count(), 1U);
  EXPECT_EQ(inserts.sum_us, 5U);
  Latency others;
  latencies.add_up(RequestKind::update, others);
  EXPECT_EQ(others.count(), 0U);
}

}  // namespace
}  // namespace hs
