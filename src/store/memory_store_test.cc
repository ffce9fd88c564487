// Tests of the in-memory store through the store interface alone: faults, bounds and threads. What
// it answers to requests is in the dialogues of tests/vectors, which are held with both stores.
#include "store/memory_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "store/sample_tables.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

constexpr Range after_key = range_of(Comparison::greater);
constexpr Range before_key = range_of(Comparison::less);
constexpr Change erase_rows{.kind = ChangeKind::erase};

class MemoryStoreTest : public ::testing::Test {
 protected:
  MemoryStoreTest() { add_golden_tables(database_); }

  IndexUse open(std::string_view table, std::string_view index, std::string_view columns,
                std::string_view filter_columns = {}) {
    IndexUse opened;
    const Outcome outcome = store_.open_index({"hst", table, index, columns, filter_columns},
                                              Caller::unlimited(), opened);
    EXPECT_TRUE(outcome.ok());
    return opened;
  }

  // The rows, or how the request ended without them.
  std::string shown(const Outcome& outcome, const Buffer& out) {
    if (!outcome.answered())
      return outcome.verdict() == Verdict::blocked  ? "blocked"
             : outcome.verdict() == Verdict::broken ? "broken"
                                                    : "oversized";
    if (!outcome.status().ok()) {
      EXPECT_TRUE(out.empty());
      return std::to_string(outcome.status().number());
    }
    return std::string(out.view());
  }
  std::string find_now(IndexUse index, const Selection& selection, Sink* sink = nullptr) {
    TestRows rows;
    Buffer out;
    Found found;
    const Outcome outcome = store_.find(index, selection, rows, out, sink, found);
    return shown(outcome, out);
  }
  std::string find(const IndexUse& index, const Selection& selection, Sink* sink = nullptr) {
    store_.begin_pass(PassMode::together, budget_);
    std::string rows = find_now(index, selection, sink);
    EXPECT_TRUE(store_.end_pass().ok());
    return rows;
  }
  // How many rows were changed, or how the request ended.
  std::string modify_now(IndexUse index, const Selection& selection, const Change& change) {
    TestRows rows;
    Buffer out;
    Changed changed;
    const Outcome outcome = store_.modify(index, selection, change, &rows, out, changed);
    return outcome.ok() ? std::to_string(changed.rows) : shown(outcome, out);
  }
  std::string modify(const IndexUse& index, const Selection& selection, const Change& change) {
    store_.begin_pass(PassMode::together, budget_);
    std::string count = modify_now(index, selection, change);
    EXPECT_TRUE(store_.end_pass().ok());
    return count;
  }
  std::string insert_now(IndexUse index, std::initializer_list<Value> values) {
    Changed changed;
    const Outcome outcome = store_.insert(index, {{values.begin(), values.size()}}, changed);
    return outcome.ok() ? std::to_string(changed.rows) : shown(outcome, {});
  }
  std::string insert(const IndexUse& index, std::initializer_list<Value> values) {
    store_.begin_pass(PassMode::together, budget_);
    std::string count = insert_now(index, values);
    EXPECT_TRUE(store_.end_pass().ok());
    return count;
  }
  std::string all_of_t(std::string_view columns = "id,b") {
    const std::vector<Value> key{{"0"}};
    return find(open("t", "", columns), {.range = after_key, .key = key, .limit = 100});
  }

  MemoryDatabase database_;
  CounterBlock counters_;
  Budget budget_;  // of every pass; it never stops one
  MemoryStore store_{database_, Access::write, counters_};
};

TEST_F(MemoryStoreTest, AFailedCommitOrAnAbandonedPassUndoesEverything) {
  const std::string before = all_of_t("id,a,b,c");
  auto primary = open("t", "", "id,a,b,c");
  auto ib = open("t", "ib", "b");
  const std::vector<Value> one{{"1"}};
  const std::vector<Value> five{{"5"}};
  const std::vector<Value> six{{"6"}};
  for (const bool fail : {true, false}) {
    store_.begin_pass(PassMode::together, budget_);
    EXPECT_EQ(insert_now(primary, {{"8"}, {"h"}, {"5"}, {"x"}}), "1");
    EXPECT_EQ(modify_now(ib, {.key = five, .limit = 9}, {.values = six}), "4");
    EXPECT_EQ(modify_now(primary, {.key = one}, erase_rows), "1");
    EXPECT_EQ(find_now(ib, {.key = six, .limit = 9}), "6 6 6 6 ");  // sees the writes before it
    if (fail) {
      store_.faults().next_commit = Status(Error::too_large, 1197);
      EXPECT_EQ(store_.end_pass().status(), Status(Error::too_large, 1197));
    } else {
      store_.abandon_pass();
    }
    EXPECT_EQ(all_of_t("id,a,b,c"), before);
    EXPECT_EQ(find(ib, {.key = five, .limit = 9}), "5 5 5 ");
  }
  EXPECT_EQ(counters_.get(Counter::rollbacks), 2u);
  EXPECT_EQ(counters_.get(Counter::commits), 0u);
}

TEST_F(MemoryStoreTest, ABrokenPassIsRolledBackAndTheNextIsNot) {
  auto primary = open("t", "", "id,a,b,c");
  const std::string before = all_of_t("id,a,b,c");
  store_.begin_pass(PassMode::together, budget_);
  store_.faults().broken_in = 2;
  EXPECT_EQ(insert_now(primary, {{"8"}, {"h"}, {"5"}, {"x"}}), "1");
  EXPECT_EQ(insert_now(primary, {{"9"}, {"h"}, {"5"}, {"x"}}), "broken");
  store_.abandon_pass();
  EXPECT_EQ(all_of_t("id,a,b,c"), before);
  EXPECT_EQ(counters_.get(Counter::rollbacks), 1u);
}

TEST_F(MemoryStoreTest, WritesAloneCommitOneByOne) {
  auto primary = open("t", "", "id,a,b,c");
  store_.begin_pass(PassMode::writes_alone, budget_);
  EXPECT_EQ(insert_now(primary, {{"8"}, {"h"}, {"8"}, {"x"}}), "1");
  store_.faults().next_commit = Status(Error::deadlock, 149);
  EXPECT_EQ(insert_now(primary, {{"9"}, {"h"}, {"9"}, {"x"}}), "149");
  store_.abandon_pass();  // what is committed stays
  EXPECT_EQ(all_of_t(), "1,1 2,2 3,3 4,4 5,5 6,5 7,5 8,8 ");
}

TEST_F(MemoryStoreTest, ABlockedTableDoesNothing) {
  auto primary = open("t", "", "id");
  const std::vector<Value> one{{"1"}};
  database_.find_table("hst", "t")->set_blocked(true);
  EXPECT_EQ(find(primary, {.key = one}), "blocked");
  EXPECT_EQ(modify(primary, {.key = one}, erase_rows), "blocked");
  EXPECT_EQ(insert(primary, {{"8"}}), "blocked");
  database_.find_table("hst", "t")->set_blocked(false);
  EXPECT_EQ(find(primary, {.key = one}), "1 ");
}

class RecordingSink final : public Sink {
 public:
  Flushed flush(Buffer& out, bool can_park) override {
    EXPECT_TRUE(can_park);
    bytes += out.view();
    largest = std::max(largest, out.size());
    out.clear();
    ++flushes;
    if (during_flush) during_flush();
    return flushes < stop_after ? Flushed::sent : Flushed::ended;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return nobody_waits; }
  std::string bytes;
  bool nobody_waits = false;
  std::size_t largest = 0;
  int flushes = 0;
  int stop_after = 1'000'000;
  std::function<void()> during_flush;
};

TEST_F(MemoryStoreTest, ALargeFindIsOversizedWithoutASinkAndFlushedWithOne) {
  add_user_table(database_, 20'000);
  MemoryStore store(database_, Access::read, counters_,
                    {.rows = 10'000, .bytes = 1 << 20, .flush_bytes = 1000});
  IndexUse index;
  ASSERT_TRUE(
      store.open_index({"test", "user", "", "user_id", "user_name"}, Caller::unlimited(), index)
          .ok());
  const std::vector<Value> zero{{"0"}};
  const std::vector<Value> many{{"99999"}};
  const std::vector<Filter> none{{FilterKind::skip, Comparison::equal, 0, {"nobody"}}};
  TestRows rows;
  Found found;
  for (const bool down : {false, true}) {
    const Selection all{
        .range = down ? before_key : after_key, .key = down ? many : zero, .limit = 1'000'000};
    Buffer out;
    store.begin_pass(PassMode::together, budget_);
    EXPECT_EQ(shown(store.find(index, all, rows, out, nullptr, found), out), "oversized");
    EXPECT_TRUE(out.empty());
    RecordingSink sink;
    EXPECT_TRUE(store.find(index, all, rows, out, &sink, found).status().ok());
    EXPECT_TRUE(store.end_pass().ok());
    sink.bytes += out.view();
    std::string expected;
    for (int i = 1; i <= 20'000; ++i) expected += std::to_string(down ? 20'001 - i : i) + " ";
    EXPECT_EQ(sink.bytes, expected);
    EXPECT_LT(sink.largest, 1100u);
    EXPECT_EQ(found.rows, 20'000U);
  }
  // The limit is on the rows that are looked at, not on those that are found.
  const Selection filtered{.range = after_key, .key = zero, .limit = 1, .filters = none};
  Buffer out;
  store.begin_pass(PassMode::together, budget_);
  EXPECT_EQ(shown(store.find(index, filtered, rows, out, nullptr, found), out), "oversized");
  EXPECT_TRUE(store.end_pass().ok());
}

TEST_F(MemoryStoreTest, AStreamedFindLetsWritersInAndStopsWhenTheClientIsGone) {
  add_user_table(database_, 2'000);
  MemoryStore reader(database_, Access::read, counters_, {.flush_bytes = 1000});
  IndexUse index;
  ASSERT_TRUE(
      reader.open_index({"test", "user", "", "user_id", {}}, Caller::unlimited(), index).ok());
  IndexUse written;
  ASSERT_TRUE(
      store_.open_index({"test", "user", "", "user_id", {}}, Caller::unlimited(), written).ok());
  const std::vector<Value> zero{{"0"}};
  const Selection all{.range = after_key, .key = zero, .limit = 1'000'000};
  RecordingSink sink;
  // Deletes the row that was written last, the row that would come next, and the very last row.
  sink.during_flush = [&] {
    const std::string sent = sink.bytes.substr(0, sink.bytes.size() - 1);
    const std::string last = sent.substr(sent.rfind(' ') + 1);
    const std::string next = std::to_string(std::stoi(last) + 1);
    for (const std::string& gone : {last, next, std::string("2000")}) {
      const std::vector<Value> key{{gone}};
      modify(written, {.key = key}, erase_rows);
    }
  };
  TestRows rows;
  Found found;
  Buffer out;
  reader.begin_pass(PassMode::together, budget_);
  EXPECT_TRUE(reader.find(index, all, rows, out, &sink, found).status().ok());
  EXPECT_TRUE(reader.end_pass().ok());
  sink.bytes += out.view();
  const auto written_rows = std::count(sink.bytes.begin(), sink.bytes.end(), ' ');
  EXPECT_GT(sink.flushes, 3);
  EXPECT_EQ(written_rows, 2'000 - 1 - sink.flushes);
  EXPECT_EQ(sink.bytes.find(" 2000 "), std::string::npos);

  out.clear();
  RecordingSink gone;
  gone.stop_after = 1;
  reader.begin_pass(PassMode::together, budget_);
  EXPECT_FALSE(reader.find(index, all, rows, out, &gone, found).status().ok());
  EXPECT_TRUE(reader.end_pass().ok());
  EXPECT_EQ(gone.flushes, 1);
}

TEST_F(MemoryStoreTest, AStreamedInGoesOnWhereItWas) {
  add_user_table(database_, 100);
  MemoryStore reader(database_, Access::read, counters_, {.flush_bytes = 1});
  IndexUse index;
  ASSERT_TRUE(
      reader.open_index({"test", "user", "", "user_id", {}}, Caller::unlimited(), index).ok());
  IndexUse written;
  ASSERT_TRUE(
      store_.open_index({"test", "user", "", "user_id", {}}, Caller::unlimited(), written).ok());
  const std::vector<Value> key{{""}};
  const std::vector<Value> values{{"9"}, {"7"}, {"8"}, {"101"}, {"6"}};
  RecordingSink sink;
  sink.during_flush = [&] {
    const std::vector<Value> eight{{"8"}};
    modify(written, {.key = eight}, erase_rows);
  };
  TestRows rows;
  Found found;
  Buffer out;
  reader.begin_pass(PassMode::together, budget_);
  EXPECT_TRUE(
      reader.find(index, {.key = key, .limit = 9, .in = {0, values}}, rows, out, &sink, found)
          .status()
          .ok());
  EXPECT_TRUE(reader.end_pass().ok());
  EXPECT_EQ(sink.bytes + std::string(out.view()), "9 7 6 ");
}

// A single row is not answered before anybody has looked at its size.
TEST_F(MemoryStoreTest, ALargeRowIsOversizedWithoutASink) {
  IndexUse index = open("t", "", "id,c");
  const std::vector<Value> key{{"1"}};
  const std::string large(2000, 'x');
  const Value values[] = {{"1"}, {large}};
  ASSERT_EQ(modify(index, {.key = key}, {.values = values}), "1");
  MemoryStore store(database_, Access::read, counters_, {.bytes = 1000, .flush_bytes = 500});
  ASSERT_TRUE(store.open_index({"hst", "t", "", "id,c", {}}, Caller::unlimited(), index).ok());
  TestRows rows;
  Found found;
  Buffer out;
  RecordingSink sink;
  store.begin_pass(PassMode::together, budget_);
  EXPECT_EQ(shown(store.find(index, {.key = key}, rows, out, nullptr, found), out), "oversized");
  EXPECT_TRUE(store.find(index, {.key = key}, rows, out, &sink, found).ok());
  EXPECT_TRUE(store.end_pass().ok());
  EXPECT_EQ(sink.bytes + std::string(out.view()), "1," + large + " ");
}

// Rows whose reply begins with what is known only at its end.
TEST_F(MemoryStoreTest, RowsThatAreNotSentInPiecesAreKept) {
  add_user_table(database_, 2'000);
  MemoryStore reader(database_, Access::read, counters_, {.bytes = 100, .flush_bytes = 10});
  IndexUse index;
  ASSERT_TRUE(
      reader.open_index({"test", "user", "", "user_id", {}}, Caller::unlimited(), index).ok());
  const std::vector<Value> zero{{"0"}};
  const auto find = [&](std::uint64_t limit, Sink* sink, Buffer& out) {
    TestRows rows(5'000);
    Found found;
    reader.begin_pass(PassMode::together, budget_);
    const Outcome outcome = reader.find(index, {.range = after_key, .key = zero, .limit = limit},
                                        rows, out, sink, found);
    EXPECT_TRUE(reader.end_pass().ok());
    EXPECT_TRUE(!outcome.ok() || found.rows == limit);
    return outcome;
  };
  RecordingSink sink;
  Buffer out;
  EXPECT_EQ(find(900, nullptr, out).verdict(), Verdict::oversized);
  EXPECT_TRUE(find(900, &sink, out).ok());
  EXPECT_EQ(std::ranges::count(out.view(), ' '), 900);
  EXPECT_EQ(sink.flushes, 0);
  out.clear();
  out.append("before");
  EXPECT_EQ(find(1'500, &sink, out).status().kind(), Error::too_large);
  EXPECT_EQ(out.view(), "before");
  sink.nobody_waits = true;
  EXPECT_EQ(find(900, &sink, out).status().kind(), Error::killed);
}

TEST_F(MemoryStoreTest, SaysWhichValueOfInARowHasMet) {
  IndexUse index = open("t", "ib", "b,id");
  const std::vector<Value> key{{""}};
  const std::vector<Value> values{{"77"}, {"5"}, {"1"}, {"5"}};
  TestRows rows;
  Found found;
  Changed changed;
  Buffer out;
  store_.begin_pass(PassMode::together, budget_);
  const Selection selection{.key = key, .limit = 99, .in = {0, values}};
  EXPECT_TRUE(store_.find(index, selection, rows, out, nullptr, found).ok());
  EXPECT_EQ(rows.in_numbers, "1 1 1 2 ");
  EXPECT_EQ(rows.names, "b id ");
  EXPECT_EQ(found.rows, 4U);
  TestRows before;
  const Change erase{.kind = ChangeKind::erase, .rows_before = true};
  EXPECT_TRUE(store_.modify(index, selection, erase, &before, out, changed).ok());
  EXPECT_EQ(before.in_numbers, rows.in_numbers);
  EXPECT_TRUE(store_.end_pass().ok());
}

TEST_F(MemoryStoreTest, WritersOfSeveralThreadsLoseNothing) {
  constexpr int threads = 4;
  constexpr int rounds = 500;
  std::vector<std::thread> writers;
  writers.reserve(threads);
  for (int t = 0; t < threads; ++t) {
    writers.emplace_back([this, t] {
      CounterBlock counters;
      Budget budget;
      MemoryStore store(database_, t == 0 ? Access::read : Access::write, counters);
      IndexUse index;
      ASSERT_TRUE(store.open_index({"hst", "t", "", "b", {}}, Caller::unlimited(), index).ok());
      const std::vector<Value> key{{"1"}};
      const std::vector<Value> one{{"1"}};
      for (int i = 0; i < rounds; ++i) {
        Buffer out;
        store.begin_pass(PassMode::together, budget);
        const Selection row{.key = key};
        const Change add{.kind = ChangeKind::increment, .values = one};
        TestRows rows;
        Found found;
        Changed changed;
        const Outcome outcome = t == 0 ? store.find(index, row, rows, out, nullptr, found)
                                       : store.modify(index, row, add, nullptr, out, changed);
        EXPECT_TRUE(outcome.status().ok());
        EXPECT_TRUE(store.end_pass().ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::vector<Value> key{{"1"}};
  EXPECT_EQ(find(open("t", "", "b"), {.key = key}),
            std::to_string(1 + (threads - 1) * rounds) + " ");
}

}  // namespace
}  // namespace hs::store
