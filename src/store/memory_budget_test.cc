// What the memory store spends of a pass's budget. Rows that are skipped count, too.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "store/memory_store.h"
#include "store/sample_tables.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

constexpr Range after_key = range_of(Comparison::greater);

class MemoryBudget : public ::testing::Test {
 protected:
  MemoryBudget() { add_user_table(database_, 1'000); }

  IndexUse open(std::string_view columns, std::string_view filter_columns = {}) {
    IndexUse opened;
    EXPECT_TRUE(
        store_
            .open_index({"test", "user", "", columns, filter_columns}, Caller::unlimited(), opened)
            .ok());
    return opened;
  }
  // A find, or a modification.
  std::uint64_t spent_by(IndexUse index, const Selection& selection,
                         const Change* change = nullptr) {
    TestRows rows;
    Buffer out;
    Found found;
    Changed changed;
    budget_.begin(1);  // a budget that is spent stops nothing
    store_.begin_pass(PassMode::together, budget_);
    const Outcome outcome = change == nullptr
                                ? store_.find(index, selection, rows, out, nullptr, found)
                                : store_.modify(index, selection, *change, &rows, out, changed);
    EXPECT_TRUE(outcome.ok());
    EXPECT_TRUE(store_.end_pass().ok());
    return budget_.spent();
  }

  MemoryDatabase database_;
  CounterBlock counters_;
  MemoryStore store_{database_, Access::write, counters_};
  Budget budget_;
  const std::vector<Value> zero_{{"0"}};
  const std::vector<Value> one_{{"1"}};
};

TEST_F(MemoryBudget, IsSpentOnRowsWhateverBecomesOfThem) {
  IndexUse index = open("user_id", "user_id");
  const Selection all{.range = after_key, .key = zero_, .limit = 2'000};
  EXPECT_GE(spent_by(index, all), 1'000U);
  EXPECT_LE(spent_by(index, {.key = one_}), 2U);

  const std::vector<Filter> none{{FilterKind::skip, Comparison::equal, 0, {"0"}}};
  Selection filtered = all;
  filtered.filters = none;
  EXPECT_GE(spent_by(index, filtered), 1'000U);

  Selection offset = all;
  offset.offset = 900;
  offset.limit = 1;
  EXPECT_GE(spent_by(index, offset), 900U);

  const std::vector<Value> absent(300, Value{"-1"});
  EXPECT_GE(spent_by(index, {.key = zero_, .limit = 300, .in = {.key_part = 0, .values = absent}}),
            300U);
}

TEST_F(MemoryBudget, IsSpentOnChanges) {
  const std::vector<Value> name{{"changed"}};
  const Change change{.values = name};
  EXPECT_GE(spent_by(open("user_name"), {.key = one_}, &change), Budget::steps_of_a_change);
}

TEST_F(MemoryBudget, BoundsAModificationThatIsNotAside) {
  const std::vector<Value> name{{"changed"}};
  IndexUse index = open("user_name");
  MemoryStore bounded(database_, Access::write, counters_, {.rows = 500});
  const auto modify = [&](const Selection& selection, PassMode mode) {
    Buffer out;
    Changed changed;
    budget_.begin(1);
    bounded.begin_pass(mode, budget_);
    const Outcome outcome =
        bounded.modify(index, selection, {.values = name}, nullptr, out, changed);
    EXPECT_TRUE(bounded.end_pass().ok());
    return outcome.verdict();
  };
  Selection rows{.range = after_key, .key = zero_, .limit = 20};
  EXPECT_EQ(modify(rows, PassMode::together), Verdict::answered);
  rows.limit = 40;  // too many changes
  EXPECT_EQ(modify(rows, PassMode::together), Verdict::oversized);
  rows.limit = 1;
  rows.offset = 900;  // too many rows examined
  EXPECT_EQ(modify(rows, PassMode::writes_alone), Verdict::oversized);
  rows.limit = 1'000;
  EXPECT_EQ(modify(rows, PassMode::aside), Verdict::answered);
}

}  // namespace
}  // namespace hs::store
