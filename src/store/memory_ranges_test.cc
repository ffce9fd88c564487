// Searches within two ends, through the store interface alone. Each answer is compared with a plain
// loop over all rows, which applies what operation.h says of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "store/memory_store.h"
#include "store/sample_tables.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

using Cells = std::vector<std::optional<int>>;  // NULL is less than every number, as in an index

constexpr std::array<std::optional<int>, 4> cells{std::nullopt, 1, 2, 3};

// An end with memory of its own.
struct OwnEnd {
  Cells values;
  bool open = false;
};

// Less than, equal to or greater than 0, as the row's cells from `part` on compare with the values.
int compare(const Cells& row, std::size_t part, const Cells& values) {
  for (const std::optional<int>& value : values) {
    if (row[part] != value) return row[part] < value ? -1 : 1;
    ++part;
  }
  return 0;
}

class Ranges : public ::testing::Test {
 protected:
  Ranges() {
    add_golden_tables(database_);
    IndexUse all;
    EXPECT_TRUE(
        store_.open_index({"hst", "k3", "abc", "a,b,c", {}}, Caller::unlimited(), all).ok());
    store_.begin_pass(PassMode::together, budget_);
    for (const auto& a : cells) {
      for (const auto& b : cells) {
        for (const auto& c : cells) {
          rows_.push_back({a, b, c});
          Changed changed;
          EXPECT_TRUE(store_.insert(all, {values_of(rows_.back())}, changed).ok());
        }
      }
    }
    EXPECT_TRUE(store_.end_pass().ok());
    use_ = all;
  }

  std::span<const Value> values_of(const Cells& cells) {
    static constexpr std::array<std::string_view, 4> digits{"0", "1", "2", "3"};
    std::vector<Value>& values = kept_.emplace_back();
    for (const std::optional<int>& cell : cells) {
      values.push_back(cell ? Value{digits[static_cast<std::size_t>(*cell)]} : Value{{}, true});
    }
    return values;
  }

  Selection within(const Cells& key, const OwnEnd& lower, const OwnEnd& upper,
                   Direction direction) {
    kept_.clear();
    kept_.reserve(3);
    return {.range = {Bound::within, direction},
            .key = values_of(key),
            .lower = {values_of(lower.values), lower.open},
            .upper = {values_of(upper.values), upper.open},
            .limit = 1000};
  }

  std::string found(const Selection& selection) {
    EXPECT_TRUE(selection.is_valid());
    Buffer out;
    store_.begin_pass(PassMode::together, budget_);
    TestRows rows;
    Found found;
    EXPECT_TRUE(store_.find(use_, selection, rows, out, nullptr, found).ok());
    EXPECT_TRUE(store_.end_pass().ok());
    return std::string(out.view());
  }

  std::string expected(const Cells& key, const OwnEnd& lower, const OwnEnd& upper,
                       Direction direction) const {
    std::vector<Cells> met;
    for (const Cells& row : rows_) {
      const std::size_t part = key.size();
      if (compare(row, 0, key) != 0) continue;
      if (!lower.values.empty() && compare(row, part, lower.values) < (lower.open ? 1 : 0))
        continue;
      if (!upper.values.empty() && compare(row, part, upper.values) > (upper.open ? -1 : 0))
        continue;
      if (lower.values.empty() && !upper.values.empty() && !row[part]) continue;
      met.push_back(row);
    }
    std::ranges::sort(met);
    if (direction == Direction::down) std::ranges::reverse(met);
    std::string text;
    for (const Cells& row : met) {
      for (const std::optional<int>& cell : row) text += (cell ? std::to_string(*cell) : "~") + ',';
      text.back() = ' ';
    }
    return text;
  }

  MemoryDatabase database_;
  CounterBlock counters_;
  Budget budget_;
  MemoryStore store_{database_, Access::write, counters_};
  IndexUse use_;
  std::vector<Cells> rows_;
  std::vector<std::vector<Value>> kept_;  // the values of a selection
};

TEST_F(Ranges, HaveEndsOfEachKindInEitherOrder) {
  std::vector<OwnEnd> ends{{}};
  for (const auto& first : cells) {
    for (const bool open : {false, true}) {
      ends.push_back({{first}, open});
      for (const auto& second : {cells[0], cells[2]}) ends.push_back({{first, second}, open});
    }
  }
  for (const Cells& key : std::vector<Cells>{{}, {std::nullopt}, {2}}) {
    for (const OwnEnd& lower : ends) {
      for (const OwnEnd& upper : ends) {
        for (const Direction direction : {Direction::up, Direction::down}) {
          ASSERT_EQ(found(within(key, lower, upper, direction)),
                    expected(key, lower, upper, direction));
        }
      }
    }
  }
}

TEST_F(Ranges, ServeAWholeIndexInPieces) {
  for (const Direction direction : {Direction::up, Direction::down}) {
    Selection selection = within({}, {}, {}, direction);
    const std::string whole = found(selection);
    EXPECT_EQ(std::ranges::count(whole, ' '), 64);
    const Cells first = direction == Direction::up ? rows_.front() : rows_.back();
    selection.limit = 1;
    std::string pieces = found(selection);
    Cells last = first;
    for (int piece = 0; piece < 9; ++piece) {
      const OwnEnd behind{last, true};
      selection = direction == Direction::up ? within({}, behind, {}, direction)
                                             : within({}, {{1}, false}, behind, direction);
      selection.limit = 6;
      pieces += found(selection);
      const auto at = static_cast<std::size_t>(std::ranges::count(pieces, ' ')) - 1;
      last = direction == Direction::up ? rows_[at] : rows_[rows_.size() - 1 - at];
    }
    // The way down ends at the rows that have no NULL.
    EXPECT_EQ(pieces, whole.substr(0, pieces.size()));
    EXPECT_EQ(std::ranges::count(pieces, ' '), direction == Direction::up ? 55 : 48);
  }
}

TEST_F(Ranges, TakeEachValueOfInBeforeTheEnds) {
  Selection selection = within({1}, {{2}, false}, {{2}, false}, Direction::down);
  const std::vector<Value> values{{"3"}, {"1"}, {"3"}};
  selection.in = {0, values};
  EXPECT_EQ(found(selection), "3,2,3 3,2,2 3,2,1 3,2,~ 1,2,3 1,2,2 1,2,1 1,2,~ ");
  selection.limit = 3;
  selection.offset = 2;
  EXPECT_EQ(found(selection), "3,2,1 3,2,~ 1,2,3 ");
}

TEST_F(Ranges, FindTextsThatBeginSo) {
  IndexUse all = use_;
  for (const std::string_view b : {"2", "20", "2\xff", "2\xff\xff", "\xff", "\xffz"}) {
    const std::vector<Value> row{{"7"}, {b}, {"0"}};
    Changed changed;
    store_.begin_pass(PassMode::together, budget_);
    EXPECT_TRUE(store_.insert(all, {row}, changed).ok());
    EXPECT_TRUE(store_.end_pass().ok());
  }
  Selection selection = within({}, {}, {}, Direction::up);
  const std::vector<Value> key{{"7"}};
  selection.key = key;
  const auto beginning = [&](const Value& prefix, Direction direction) {
    selection.range.direction = direction;
    selection.lower = {{&prefix, 1}, false, true};
    return found(selection);
  };
  EXPECT_EQ(beginning({"2"}, Direction::up), "7,2,0 7,20,0 7,2\xff,0 7,2\xff\xff,0 ");
  EXPECT_EQ(beginning({"2\xff"}, Direction::down), "7,2\xff\xff,0 7,2\xff,0 ");
  EXPECT_EQ(beginning({"\xff"}, Direction::down), "7,\xffz,0 7,\xff,0 ");
  EXPECT_EQ(beginning({"3"}, Direction::up), "");
  EXPECT_EQ(beginning({{}, true}, Direction::up), "");
  const std::vector<Value> one{{"1"}};
  selection.key = one;
  EXPECT_EQ(beginning({""}, Direction::up),
            "1,1,~ 1,1,1 1,1,2 1,1,3 1,2,~ 1,2,1 1,2,2 1,2,3 1,3,~ 1,3,1 1,3,2 1,3,3 ")
      << "NULL is no text";
  selection.key = {};
  Buffer out;
  TestRows rows;
  Found found;
  store_.begin_pass(PassMode::together, budget_);
  EXPECT_EQ(store_.find(use_, selection, rows, out, nullptr, found).status().number(), 131U);
  EXPECT_TRUE(store_.end_pass().ok());
}

TEST_F(Ranges, HaveNoMoreValuesThanTheIndexHasParts) {
  const Selection selection = within({1, 1}, {{1, 1}, false}, {}, Direction::up);
  Buffer out;
  store_.begin_pass(PassMode::together, budget_);
  TestRows rows;
  Found found;
  EXPECT_EQ(store_.find(use_, selection, rows, out, nullptr, found).status(),
            Status(Error::too_many_key_parts));
  EXPECT_TRUE(store_.end_pass().ok());
}

}  // namespace
}  // namespace hs::store
