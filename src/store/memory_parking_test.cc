// Finds that are parked after each row, as for a client that does not read. Each piece is read in a
// pass of another store.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "store/memory_store.h"
#include "store/sample_tables.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

class StallingSink final : public Sink {
 public:
  Flushed flush(Buffer& out, bool can_park) override {
    EXPECT_TRUE(can_park);
    bytes += out.view();
    out.clear();
    return stalls ? Flushed::stalled : Flushed::sent;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return false; }
  std::string bytes;
  bool stalls = true;
};

class ParkedFind : public ::testing::Test {
 protected:
  ParkedFind() { add_golden_tables(database_); }

  // The rows that the client gets. `between` is called before each piece except the first.
  std::string answer(
      const Selection& selection, StallingSink& sink,
      const std::function<void()>& between = [] {}) {
    TestRows rows;
    Buffer out;
    pieces_ = 0;
    std::uint64_t found_rows = 0;
    for (Verdict verdict = Verdict::parked; verdict == Verdict::parked; ++pieces_) {
      if (pieces_ != 0) between();
      CounterBlock counters;
      MemoryStore reader(database_, Access::read, counters, {.flush_bytes = 1});
      IndexUse index;
      EXPECT_TRUE(
          reader.open_index({"hst", "t", "ib", "b,id", "id"}, Caller::unlimited(), index).ok());
      Budget budget;
      reader.begin_pass(PassMode::together, budget);
      Found found;
      const Outcome outcome = reader.find(index, selection, rows, out, &sink, found);
      found_rows += found.rows;
      EXPECT_TRUE(outcome.status().ok());
      EXPECT_TRUE(reader.end_pass().ok());
      verdict = outcome.verdict();
    }
    std::string bytes = sink.bytes + std::string(out.view());
    EXPECT_EQ(found_rows, static_cast<std::uint64_t>(std::ranges::count(bytes, ' ')));
    in_numbers_ = rows.in_numbers;
    return bytes;
  }

  MemoryDatabase database_;
  std::ptrdiff_t pieces_ = 0;
  std::string in_numbers_;  // of those rows
};

TEST_F(ParkedFind, GoesOnBehindItsLastRow) {
  const std::vector<Value> two{{"2"}};
  const std::vector<Value> five{{"5"}};
  const std::vector<Value> values{{"5"}, {"77"}, {"1"}, {"5"}, {"1"}, {"4"}};
  const std::vector<Filter> no_six{{FilterKind::skip, Comparison::not_equal, 0, {"6"}}};
  const std::vector<Selection> selections{
      {.range = range_of(Comparison::greater_equal), .key = two, .limit = 99},
      {.range = range_of(Comparison::less_equal), .key = five, .limit = 99},
      {.key = five, .limit = 99},
      {.key = five, .limit = 2, .offset = 1},
      {.range = range_of(Comparison::greater), .key = two, .limit = 3},
      {.key = five, .limit = 99, .in = {0, values}},
      {.key = five, .limit = 99, .filters = no_six},
  };
  for (const Selection& selection : selections) {
    StallingSink reading;
    reading.stalls = false;
    const std::string whole = answer(selection, reading);
    EXPECT_EQ(pieces_, 1);
    const std::string in_numbers = in_numbers_;
    StallingSink stalling;
    EXPECT_EQ(answer(selection, stalling), whole);
    EXPECT_EQ(in_numbers_, in_numbers);
    const auto rows = std::ranges::count(whole, ' ');
    EXPECT_GT(rows, 1) << whole;
    // Behind the last row of its limit a find has nothing to go on to.
    const bool is_at_limit = static_cast<std::uint64_t>(rows) == selection.limit;
    EXPECT_EQ(pieces_, is_at_limit ? rows : rows + 1);
  }
}

TEST_F(ParkedFind, MeetsRowsThatComeAndGoOnceAtTheMost) {
  CounterBlock counters;
  MemoryStore writer(database_, Access::write, counters);
  IndexUse index;
  ASSERT_TRUE(writer.open_index({"hst", "t", "", "id,b,c", {}}, Caller::unlimited(), index).ok());
  StallingSink sink;
  const std::vector<Value> five{{"5"}};
  // Each row that was answered is deleted, and inserted again in front of the place where the find
  // is.
  const auto between = [&] {
    const std::string last = sink.bytes.substr(sink.bytes.rfind(',') + 1, 1);
    const std::vector<Value> key{{last}};
    const std::vector<Value> row{{last}, {"4"}, {"x"}};
    Buffer out;
    Budget budget;
    Changed changed;
    writer.begin_pass(PassMode::together, budget);
    EXPECT_TRUE(
        writer.modify(index, {.key = key}, {.kind = ChangeKind::erase}, nullptr, out, changed)
            .ok());
    EXPECT_TRUE(writer.insert(index, {row}, changed).ok());
    EXPECT_TRUE(writer.end_pass().ok());
  };
  const Selection up{.range = range_of(Comparison::greater_equal), .key = five, .limit = 99};
  EXPECT_EQ(answer(up, sink, between), "5,5 5,6 5,7 ");
}

}  // namespace
}  // namespace hs::store
