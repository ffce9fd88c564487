// Tests of the in-memory store through the store interface alone.
#include "store/memory_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "store/sample_tables.h"

namespace hs::store {
namespace {

using protocol::Comparison;
using protocol::Filter;
using protocol::FilterKind;
using protocol::Find;
using protocol::Modification;
using protocol::Value;

const Value null_value{{}, true};

class MemoryStoreTest : public ::testing::Test {
 protected:
  MemoryStoreTest() { add_golden_tables(database_); }

  std::shared_ptr<Index> open(std::string_view table, std::string_view index,
                              std::string_view columns, std::string_view filter_columns = {}) {
    std::shared_ptr<Index> opened;
    const Outcome outcome =
        store_.open_index({"hst", table, index, columns, filter_columns}, opened);
    EXPECT_TRUE(outcome.ok());
    return opened;
  }
  Status open_status(std::string_view table, std::string_view index, std::string_view columns) {
    std::shared_ptr<Index> opened;
    return store_.open_index({"hst", table, index, columns, {}}, opened).status();
  }

  // A reply with `|` for TAB and `~` for NULL; or the error.
  std::string shown(const Outcome& outcome, const Buffer& out) {
    if (!outcome.answered())
      return outcome.verdict() == Verdict::blocked  ? "blocked"
             : outcome.verdict() == Verdict::broken ? "broken"
                                                    : "oversized";
    if (!outcome.status().ok()) {
      EXPECT_TRUE(out.empty());
      return outcome.status().error() == Error::server ? std::to_string(outcome.status().number())
                                                       : std::string(outcome.status().info().text);
    }
    std::string text(out.view());
    EXPECT_TRUE(text.ends_with('\n'));
    text.pop_back();
    for (char& byte : text) byte = byte == '\t' ? '|' : byte == '\0' ? '~' : byte;
    return text;
  }
  std::string find_now(Index& index, const Find& find, Sink* sink = nullptr) {
    Buffer out;
    const Outcome outcome = store_.find(index, find, out, sink);
    return shown(outcome, out);
  }
  std::string find(Index& index, const Find& find, Sink* sink = nullptr) {
    store_.begin_pass(PassMode::together);
    std::string reply = find_now(index, find, sink);
    EXPECT_TRUE(store_.end_pass().ok());
    return reply;
  }
  std::string modify_now(Index& index, const Find& find) {
    Buffer out;
    const Outcome outcome = store_.modify(index, find, out);
    return shown(outcome, out);
  }
  std::string modify(Index& index, const Find& find) {
    store_.begin_pass(PassMode::together);
    std::string reply = modify_now(index, find);
    EXPECT_TRUE(store_.end_pass().ok());
    return reply;
  }
  std::string insert_now(Index& index, std::initializer_list<Value> values) {
    Buffer out;
    const Outcome outcome = store_.insert(index, {{values.begin(), values.size()}}, out);
    return shown(outcome, out);
  }
  std::string insert(Index& index, std::initializer_list<Value> values) {
    store_.begin_pass(PassMode::together);
    std::string reply = insert_now(index, values);
    EXPECT_TRUE(store_.end_pass().ok());
    return reply;
  }
  std::string all_of_t(std::string_view columns = "id,b") {
    const std::vector<Value> key{{"0"}};
    return find(*open("t", "", columns),
                {.comparison = Comparison::greater, .key = key, .limit = 100});
  }

  MemoryDatabase database_;
  CounterBlock counters_;
  MemoryStore store_{database_, Access::write, counters_};
};

TEST_F(MemoryStoreTest, OpenIndexNamesWhatIsMissing) {
  EXPECT_EQ(open_status("nosuch", "", "id"), Error::open_table);
  EXPECT_EQ(open_status("t", "nosuch", "id"), Error::idxnum);
  EXPECT_EQ(open_status("t", "primary", "id"), Error::idxnum);
  EXPECT_EQ(open_status("t", "4", "id"), Error::idxnum);
  EXPECT_EQ(open_status("t", "3", "id"), Status{});
  EXPECT_EQ(open_status("t", "1x", "id"), Error::idxnum);
  EXPECT_EQ(open_status("nokey", "", "a"), Error::idxnum);
  EXPECT_EQ(open_status("t", "", "id,"), Error::fld);
  EXPECT_EQ(open_status("t", "", "ID"), Error::fld);
  EXPECT_EQ(open_status("t", "", ""), Status{});
}

TEST_F(MemoryStoreTest, EachOperatorWalksItsWay) {
  const auto ib = open("t", "ib", "id");
  const std::vector<Value> four{{"4"}};
  const std::vector<Value> five{{"5"}};
  const auto at = [&](Comparison comparison, const std::vector<Value>& key) {
    return find(*ib, {.comparison = comparison, .key = key, .limit = 100});
  };
  EXPECT_EQ(at(Comparison::equal, five), "0|1|5|6|7");
  EXPECT_EQ(at(Comparison::greater, four), "0|1|5|6|7");
  EXPECT_EQ(at(Comparison::greater_equal, four), "0|1|4|5|6|7");
  EXPECT_EQ(at(Comparison::less, five), "0|1|4|3|2|1");
  EXPECT_EQ(at(Comparison::less_equal, four), "0|1|4|3|2|1");
  EXPECT_EQ(at(Comparison::greater, five), "0|1");
  EXPECT_EQ(find(*ib, {.key = five}), "0|1|5");
  EXPECT_EQ(find(*ib, {.key = five, .limit = 1, .offset = 1}), "0|1|6");
  EXPECT_EQ(find(*ib, {.key = five, .limit = ~0ull, .offset = ~0ull}), "0|1");
}

TEST_F(MemoryStoreTest, KeysMayBePartialAndNull) {
  const auto iab = open("t", "iab", "id,a,b");
  const std::vector<Value> null{null_value};
  const std::vector<Value> null_four{null_value, {"4"}};
  const std::vector<Value> two{{"two"}, {"2"}};
  const std::vector<Value> too_many{{"two"}, {"2"}, {"2"}};
  const std::vector<Value> no_number{{"two"}, {"2x"}};
  EXPECT_EQ(find(*iab, {.key = null, .limit = 9}), "0|3|4|~|4");
  EXPECT_EQ(find(*iab, {.key = null_four, .limit = 9}), "0|3|4|~|4");
  EXPECT_EQ(find(*iab, {.comparison = Comparison::greater, .key = null, .limit = 2}),
            "0|3|5|five|5|1|one|1");
  EXPECT_EQ(find(*iab, {.key = two, .limit = 9}), "0|3|2|two|2");
  EXPECT_EQ(find(*iab, {.key = too_many}), "kpnum");
  EXPECT_EQ(find(*iab, {.key = no_number}), "0|3");
}

TEST_F(MemoryStoreTest, InTakesEachValuesRows) {
  const auto ib = open("t", "ib", "id");
  const std::vector<Value> key{{""}};
  const std::vector<Value> values{{"5"}, {"nine"}, {"77"}, {"1"}};
  EXPECT_EQ(find(*ib, {.key = key, .limit = 9, .in = {0, values}}), "0|1|5|6|7|1");
  EXPECT_EQ(find(*ib, {.key = key, .limit = 2, .offset = 2, .in = {0, values}}), "0|1|7|1");
  EXPECT_EQ(find(*ib, {.key = key, .in = {1, values}}), "icol");
}

TEST_F(MemoryStoreTest, FiltersSkipOrStop) {
  const auto primary = open("t", "", "id", "b,a");
  const std::vector<Value> key{{"1"}};
  const auto with = [&](std::vector<Filter> filters) {
    return find(
        *primary,
        {.comparison = Comparison::greater_equal, .key = key, .limit = 9, .filters = filters});
  };
  const auto skip = FilterKind::skip;
  EXPECT_EQ(with({{skip, Comparison::greater, 0, {"3"}}}), "0|1|4|5|6|7");
  EXPECT_EQ(with({{skip, Comparison::greater_equal, 0, {"3"}}, {skip, Comparison::less, 0, {"5"}}}),
            "0|1|3|4");
  EXPECT_EQ(with({{FilterKind::stop, Comparison::less, 0, {"3"}}}), "0|1|1|2");
  EXPECT_EQ(with({{skip, Comparison::equal, 1, null_value}}), "0|1|4");
  EXPECT_EQ(with({{skip, Comparison::not_equal, 1, null_value}}), "0|1|1|2|3|5|6|7");
  EXPECT_EQ(with({{skip, Comparison::less_equal, 1, {"five"}}}), "0|1|4|5");
  EXPECT_EQ(with({{skip, Comparison::equal, 2, {"3"}}}), "filterfld");
}

TEST_F(MemoryStoreTest, ModifyChangesAndCounts) {
  const auto primary = open("t", "", "b,a");
  const std::vector<Value> two{{"2"}};
  const std::vector<Value> nine_null{{"9"}, null_value};
  const std::vector<Value> eight{{"8"}};
  const std::vector<Value> ten{{"10"}};
  const auto with = [&](Modification modification, const std::vector<Value>& values,
                        bool rows_before = false) {
    return modify(
        *primary,
        {.key = two, .modification = modification, .rows_before = rows_before, .values = values});
  };
  using enum Modification;
  EXPECT_EQ(with(update, nine_null), "0|1|1");
  EXPECT_EQ(with(update, nine_null), "0|1|1");  // changes nothing, and counts
  EXPECT_EQ(find(*primary, {.key = two}), "0|2|9|~");
  EXPECT_EQ(with(update, eight), "0|1|1");
  EXPECT_EQ(with(increment, ten, true), "0|2|8|~");
  EXPECT_EQ(with(decrement, eight), "0|1|1");
  EXPECT_EQ(find(*primary, {.key = two}), "0|2|10|~");
  EXPECT_EQ(with(decrement, ten), "0|1|1");
  EXPECT_EQ(find(*primary, {.key = two}), "0|2|0|~");
  EXPECT_EQ(with(increment, eight), "0|1|1");
  EXPECT_EQ(with(decrement, ten), "0|1|0");  // would cross zero
  EXPECT_EQ(with(decrement, ten, true), "0|2|8|~");
  EXPECT_EQ(find(*primary, {.key = two}), "0|2|8|~");
  EXPECT_EQ(with(erase, {}, true), "0|2|8|~");
  EXPECT_EQ(with(erase, {}), "0|1|0");
  EXPECT_EQ(all_of_t(), "0|2|1|1|3|3|4|4|5|5|6|5|7|5");
}

TEST_F(MemoryStoreTest, ModifyThroughItsOwnIndexMeetsEachRowOnce) {
  const auto ib = open("t", "ib", "b");
  const std::vector<Value> key{{"0"}};
  const std::vector<Value> one{{"1"}};
  const Find find{.comparison = Comparison::greater,
                  .key = key,
                  .limit = 100,
                  .modification = Modification::increment,
                  .values = one};
  EXPECT_EQ(modify(*ib, find), "0|1|7");
  EXPECT_EQ(all_of_t(), "0|2|1|2|2|3|3|4|4|5|5|6|6|6|7|6");
}

TEST_F(MemoryStoreTest, ModifyWithInErasesARowThatIsNamedTwiceOnce) {
  const auto primary = open("t", "", "id");
  const std::vector<Value> key{{""}};
  const std::vector<Value> values{{"1"}, {"2"}, {"1"}};
  EXPECT_EQ(
      modify(*primary,
             {.key = key, .limit = 9, .in = {0, values}, .modification = Modification::erase}),
      "0|1|2");
}

TEST_F(MemoryStoreTest, BadWritesLeaveNoTrace) {
  const auto primary = open("t", "", "id,b,c");
  const auto id_only = open("t", "", "id");
  const std::string before = all_of_t("id,a,b,c");
  const std::vector<Value> key{{"1"}};
  // Row 1 would do; a later one fails, and takes it along.
  const auto change_all = [&](Modification modification, std::string_view columns,
                              std::vector<Value> values) {
    return modify(*open("t", "", columns), {.comparison = Comparison::greater_equal,
                                            .key = key,
                                            .limit = 9,
                                            .modification = modification,
                                            .values = values});
  };
  EXPECT_EQ(insert(*primary, {{"7"}, {"1"}, {"x"}}), "121");
  EXPECT_EQ(insert(*primary, {{"x"}}), "1366");
  EXPECT_EQ(insert(*primary, {{"99999999999999999999"}}), "1264");
  EXPECT_EQ(insert(*primary, {null_value}), "1048");
  EXPECT_EQ(insert(*id_only, {{"8"}, {"8"}}), "fld");
  EXPECT_EQ(change_all(Modification::update, "id", {{"1"}}), "121");
  EXPECT_EQ(change_all(Modification::update, "id", {{"3"}, {"3"}}), "fld");
  EXPECT_EQ(change_all(Modification::increment, "b", {{"9223372036854775804"}}), "1264");
  EXPECT_EQ(change_all(Modification::increment, "c", {{"5"}}), "1366");
  EXPECT_EQ(all_of_t("id,a,b,c"), before);
  EXPECT_EQ(counters_.get(Counter::rows_changed), 0u);
}

TEST_F(MemoryStoreTest, AutoIncrementCountsOn) {
  const auto ai = open("ai", "", "id,v");
  const auto v = open("ai", "", "v,id");
  EXPECT_EQ(insert(*v, {{"a"}}), "0|1|1");
  EXPECT_EQ(insert(*ai, {{"10"}, {"b"}}), "0|1|10");
  EXPECT_EQ(insert(*ai, {null_value, {"c"}}), "0|1|11");
  EXPECT_EQ(insert(*ai, {{"0"}, {"d"}}), "0|1|12");
  EXPECT_EQ(insert(*ai, {{"11"}}), "121");
}

TEST_F(MemoryStoreTest, AFailedCommitOrAnAbandonedPassUndoesEverything) {
  const std::string before = all_of_t("id,a,b,c");
  const auto primary = open("t", "", "id,a,b,c");
  const auto ib = open("t", "ib", "b");
  const std::vector<Value> one{{"1"}};
  const std::vector<Value> five{{"5"}};
  const std::vector<Value> six{{"6"}};
  for (const bool fail : {true, false}) {
    store_.begin_pass(PassMode::together);
    EXPECT_EQ(insert_now(*primary, {{"8"}, {"h"}, {"5"}, {"x"}}), "0|1");
    EXPECT_EQ(
        modify_now(*ib,
                   {.key = five, .limit = 9, .modification = Modification::update, .values = six}),
        "0|1|4");
    EXPECT_EQ(modify_now(*primary, {.key = one, .modification = Modification::erase}), "0|1|1");
    EXPECT_EQ(find_now(*ib, {.key = six, .limit = 9}), "0|1|6|6|6|6");  // sees the writes before it
    if (fail) {
      store_.faults().next_commit = Status::server(1197);
      EXPECT_EQ(store_.end_pass().status(), Status::server(1197));
    } else {
      store_.abandon_pass();
    }
    EXPECT_EQ(all_of_t("id,a,b,c"), before);
    EXPECT_EQ(find(*ib, {.key = five, .limit = 9}), "0|1|5|5|5");
  }
  EXPECT_EQ(counters_.get(Counter::rollbacks), 2u);
  EXPECT_EQ(counters_.get(Counter::commits), 0u);
}

TEST_F(MemoryStoreTest, ABrokenPassIsRolledBackAndTheNextIsNot) {
  const auto primary = open("t", "", "id,a,b,c");
  const std::string before = all_of_t("id,a,b,c");
  store_.begin_pass(PassMode::together);
  store_.faults().broken_in = 2;
  EXPECT_EQ(insert_now(*primary, {{"8"}, {"h"}, {"5"}, {"x"}}), "0|1");
  EXPECT_EQ(insert_now(*primary, {{"9"}, {"h"}, {"5"}, {"x"}}), "broken");
  store_.abandon_pass();
  EXPECT_EQ(all_of_t("id,a,b,c"), before);
  EXPECT_EQ(counters_.get(Counter::rollbacks), 1u);
}

TEST_F(MemoryStoreTest, WritesAloneCommitOneByOne) {
  const auto primary = open("t", "", "id,a,b,c");
  store_.begin_pass(PassMode::writes_alone);
  EXPECT_EQ(insert_now(*primary, {{"8"}, {"h"}, {"8"}, {"x"}}), "0|1");
  store_.faults().next_commit = Status::server(149);
  EXPECT_EQ(insert_now(*primary, {{"9"}, {"h"}, {"9"}, {"x"}}), "149");
  store_.abandon_pass();  // what is committed stays
  EXPECT_EQ(all_of_t(), "0|2|1|1|2|2|3|3|4|4|5|5|6|5|7|5|8|8");
}

TEST_F(MemoryStoreTest, ABlockedTableDoesNothing) {
  const auto primary = open("t", "", "id");
  const std::vector<Value> one{{"1"}};
  database_.find_table("hst", "t")->set_blocked(true);
  EXPECT_EQ(find(*primary, {.key = one}), "blocked");
  EXPECT_EQ(modify(*primary, {.key = one, .modification = Modification::erase}), "blocked");
  EXPECT_EQ(insert(*primary, {{"8"}}), "blocked");
  database_.find_table("hst", "t")->set_blocked(false);
  EXPECT_EQ(find(*primary, {.key = one}), "0|1|1");
}

class RecordingSink final : public Sink {
 public:
  bool flush(Buffer& out) override {
    bytes += out.view();
    largest = std::max(largest, out.size());
    out.clear();
    ++flushes;
    if (during_flush) during_flush();
    return flushes < stop_after;
  }
  std::string bytes;
  std::size_t largest = 0;
  int flushes = 0;
  int stop_after = 1'000'000;
  std::function<void()> during_flush;
};

TEST_F(MemoryStoreTest, ALargeFindIsOversizedWithoutASinkAndFlushedWithOne) {
  add_user_table(database_, 20'000);
  MemoryStore store(database_, Access::read, counters_,
                    {.rows = 10'000, .bytes = 1 << 20, .flush_bytes = 1000});
  std::shared_ptr<Index> index;
  ASSERT_TRUE(store.open_index({"test", "user", "", "user_id", "user_name"}, index).status().ok());
  const std::vector<Value> zero{{"0"}};
  const std::vector<Value> many{{"99999"}};
  const std::vector<Filter> none{{FilterKind::skip, Comparison::equal, 0, {"nobody"}}};
  for (const bool down : {false, true}) {
    const Find all{.comparison = down ? Comparison::less : Comparison::greater,
                   .key = down ? many : zero,
                   .limit = 1'000'000};
    Buffer out;
    store.begin_pass(PassMode::together);
    EXPECT_EQ(shown(store.find(*index, all, out, nullptr), out), "oversized");
    EXPECT_TRUE(out.empty());
    RecordingSink sink;
    EXPECT_TRUE(store.find(*index, all, out, &sink).status().ok());
    EXPECT_TRUE(store.end_pass().ok());
    sink.bytes += out.view();
    std::string expected = "0\t1";
    for (int i = 1; i <= 20'000; ++i) expected += "\t" + std::to_string(down ? 20'001 - i : i);
    EXPECT_EQ(sink.bytes, expected + "\n");
    EXPECT_LT(sink.largest, 1100u);
  }
  // The bound is on what is examined, not on what is found.
  Find filtered{.comparison = Comparison::greater, .key = zero, .limit = 1, .filters = none};
  Buffer out;
  store.begin_pass(PassMode::together);
  EXPECT_EQ(shown(store.find(*index, filtered, out, nullptr), out), "oversized");
  EXPECT_TRUE(store.end_pass().ok());
}

TEST_F(MemoryStoreTest, AStreamedFindLetsWritersInAndStopsWhenTheClientIsGone) {
  add_user_table(database_, 2'000);
  MemoryStore reader(database_, Access::read, counters_, {.flush_bytes = 1000});
  std::shared_ptr<Index> index;
  ASSERT_TRUE(reader.open_index({"test", "user", "", "user_id", {}}, index).status().ok());
  std::shared_ptr<Index> written;
  ASSERT_TRUE(store_.open_index({"test", "user", "", "user_id", {}}, written).status().ok());
  const std::vector<Value> zero{{"0"}};
  const Find all{.comparison = Comparison::greater, .key = zero, .limit = 1'000'000};
  RecordingSink sink;
  // Takes away the row that was written last, the one that would come next, and the very last.
  sink.during_flush = [&] {
    const std::string last = sink.bytes.substr(sink.bytes.rfind('\t') + 1);
    const std::string next = std::to_string(std::stoi(last) + 1);
    for (const std::string& gone : {last, next, std::string("2000")}) {
      const std::vector<Value> key{{gone}};
      modify(*written, {.key = key, .modification = Modification::erase});
    }
  };
  Buffer out;
  reader.begin_pass(PassMode::together);
  EXPECT_TRUE(reader.find(*index, all, out, &sink).status().ok());
  EXPECT_TRUE(reader.end_pass().ok());
  sink.bytes += out.view();
  const auto rows = std::count(sink.bytes.begin(), sink.bytes.end(), '\t') - 1;
  EXPECT_GT(sink.flushes, 3);
  EXPECT_EQ(rows, 2'000 - 1 - sink.flushes);
  EXPECT_EQ(sink.bytes.find("\t2000\n"), std::string::npos);

  out.clear();
  RecordingSink gone;
  gone.stop_after = 1;
  reader.begin_pass(PassMode::together);
  EXPECT_FALSE(reader.find(*index, all, out, &gone).status().ok());
  EXPECT_TRUE(reader.end_pass().ok());
  EXPECT_EQ(gone.flushes, 1);
}

TEST_F(MemoryStoreTest, AStreamedInGoesOnWhereItWas) {
  add_user_table(database_, 100);
  MemoryStore reader(database_, Access::read, counters_, {.flush_bytes = 1});
  std::shared_ptr<Index> index;
  ASSERT_TRUE(reader.open_index({"test", "user", "", "user_id", {}}, index).status().ok());
  std::shared_ptr<Index> written;
  ASSERT_TRUE(store_.open_index({"test", "user", "", "user_id", {}}, written).status().ok());
  const std::vector<Value> key{{""}};
  const std::vector<Value> values{{"9"}, {"7"}, {"8"}, {"101"}, {"6"}};
  RecordingSink sink;
  sink.during_flush = [&] {
    const std::vector<Value> eight{{"8"}};
    modify(*written, {.key = eight, .modification = Modification::erase});
  };
  Buffer out;
  reader.begin_pass(PassMode::together);
  EXPECT_TRUE(
      reader.find(*index, {.key = key, .limit = 9, .in = {0, values}}, out, &sink).status().ok());
  EXPECT_TRUE(reader.end_pass().ok());
  EXPECT_EQ(sink.bytes + std::string(out.view()), "0\t1\t9\t7\t6\n");
}

TEST_F(MemoryStoreTest, NullsInAUniqueKeyAreNoDuplicates) {
  MemoryTable& table = database_.add_table(
      {"hst", "n", {{.name = "a", .integer = true}, {.name = "b"}}, {{"PRIMARY", {0, 1}, true}}});
  const auto primary = open("n", "", "a,b");
  EXPECT_EQ(insert(*primary, {{"1"}, null_value}), "0|1");
  EXPECT_EQ(insert(*primary, {{"1"}, null_value}), "0|1");
  EXPECT_EQ(insert(*primary, {{"1"}, {"x"}}), "0|1");
  EXPECT_EQ(insert(*primary, {{"1"}, {"x"}}), "121");
  const std::vector<Value> with_null{{"1"}, null_value};
  const std::vector<Value> whole{{"1"}, {"x"}};
  EXPECT_EQ(find(*primary, {.key = with_null, .limit = 9}), "0|2|1|~|1|~");
  EXPECT_EQ(find(*primary, {.key = whole, .limit = 9}), "0|2|1|x");
  EXPECT_EQ(modify(*primary, {.key = with_null, .limit = 9, .modification = Modification::erase}),
            "0|1|2");
  EXPECT_EQ(table.size(), 1u);
}

TEST_F(MemoryStoreTest, WritersOfSeveralThreadsLoseNothing) {
  constexpr int threads = 4;
  constexpr int rounds = 500;
  std::vector<std::thread> writers;
  writers.reserve(threads);
  for (int t = 0; t < threads; ++t) {
    writers.emplace_back([this, t] {
      CounterBlock counters;
      MemoryStore store(database_, t == 0 ? Access::read : Access::write, counters);
      std::shared_ptr<Index> index;
      ASSERT_TRUE(store.open_index({"hst", "t", "", "b", {}}, index).status().ok());
      const std::vector<Value> key{{"1"}};
      const std::vector<Value> one{{"1"}};
      for (int i = 0; i < rounds; ++i) {
        Buffer out;
        store.begin_pass(PassMode::together);
        const Find find{.key = key, .modification = Modification::increment, .values = one};
        const Outcome outcome =
            t == 0 ? store.find(*index, find, out, nullptr) : store.modify(*index, find, out);
        EXPECT_TRUE(outcome.status().ok());
        EXPECT_TRUE(store.end_pass().ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::vector<Value> key{{"1"}};
  EXPECT_EQ(find(*open("t", "", "b"), {.key = key}),
            "0|1|" + std::to_string(1 + (threads - 1) * rounds));
}

}  // namespace
}  // namespace hs::store
