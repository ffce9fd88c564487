// Counts through the store interface alone: that they are what finds give, their bounds, and how
// they are parked and go on in another store.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace hs::store {
namespace {

class AskedSink final : public Sink {
 public:
  Flushed flush(Buffer& /*out*/, bool /*can_park*/) override {
    ADD_FAILURE() << "a count has nothing to flush";
    return Flushed::ended;
  }
  bool must_give_way() override { return gives_way; }
  bool must_end() override { return ends; }
  bool gives_way = true;
  bool ends = false;
};

class Counts : public ::testing::Test {
 protected:
  Counts() { add_user_table(database_, 100); }

  // One piece of a count, in a store of its own.
  Outcome count(const Selection& selection, std::uint64_t& rows, Sink* sink,
                MemoryBounds bounds = {}) {
    CounterBlock counters;
    MemoryStore store(database_, Access::read, counters, bounds);
    IndexUse use;
    EXPECT_TRUE(
        store.open_index({"test", "user", "", "user_name", "user_email"}, Caller::unlimited(), use)
            .ok());
    Budget budget;
    store.begin_pass(PassMode::together, budget);
    const Outcome outcome = store.count(use, selection, rows, sink);
    EXPECT_TRUE(store.end_pass().ok());
    return outcome;
  }
  std::uint64_t counted(const Selection& selection) {
    std::uint64_t rows = 0;
    EXPECT_TRUE(count(selection, rows, nullptr).ok());
    return rows;
  }

  static constexpr Range whole{Bound::within, Direction::up};
  static constexpr MemoryBounds small{.rows = 10};
  MemoryDatabase database_;
};

TEST_F(Counts, AreTheRowsOfAFind) {
  const std::vector<Value> ten{{"10"}};
  const std::vector<Value> values{{"3"}, {"4"}, {"3"}, {"1000"}};
  const std::vector<Filter> one{{FilterKind::skip, Comparison::equal, 0, {"user7@example.com"}}};
  EXPECT_EQ(counted({.range = whole, .limit = 1000}), 100U);
  EXPECT_EQ(counted({.range = whole, .limit = 1}), 1U) << "whether there is any";
  EXPECT_EQ(counted({.range = whole, .limit = 30, .offset = 90}), 10U);
  EXPECT_EQ(counted({.range = range_of(Comparison::less), .key = ten, .limit = 99}), 9U);
  EXPECT_EQ(counted({.key = ten, .limit = 99}), 1U);
  EXPECT_EQ(counted({.key = ten, .limit = 99, .in = {0, values}}), 2U);
  EXPECT_EQ(counted({.range = whole, .limit = 99, .filters = one}), 1U);
}

TEST_F(Counts, AreForAStreamerIfTheyAreLong) {
  std::uint64_t rows = 77;
  const Selection selection{.range = whole, .limit = 1000};
  EXPECT_EQ(count(selection, rows, nullptr, small).verdict(), Verdict::oversized);
  AskedSink sink;
  sink.gives_way = false;
  EXPECT_EQ(rows, 77U);
  EXPECT_TRUE(count(selection, rows, &sink, small).ok());
  EXPECT_EQ(rows, 100U);
}

TEST_F(Counts, GoOnWhereTheyWereParked) {
  const Selection selection{.range = whole, .limit = 80, .offset = 5};
  AskedSink sink;
  std::uint64_t rows = 77;
  int parked = 0;
  Outcome outcome;
  for (outcome = count(selection, rows, &sink, small); outcome.verdict() == Verdict::parked;
       outcome = count(selection, rows, &sink, small)) {
    ASSERT_NE(sink.position, nullptr);
    EXPECT_FALSE(sink.position->reply_begun) << "it can still become an error";
    EXPECT_EQ(rows, 77U);
    ASSERT_LT(++parked, 20);
  }
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(rows, 80U);
  EXPECT_GT(parked, 4);
}

TEST_F(Counts, EndIfNobodyWaitsForThem) {
  AskedSink sink;
  sink.ends = true;
  std::uint64_t rows = 77;
  EXPECT_EQ(count({.range = whole, .limit = 1000}, rows, &sink, small).status().kind(),
            Error::killed);
  EXPECT_EQ(rows, 77U);
}

}  // namespace
}  // namespace hs::store
