// What the memory store spends of a pass's budget. Rows that are skipped count, too.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace hs::store {
namespace {

using protocol::Comparison;
using protocol::Filter;
using protocol::FilterKind;
using protocol::Find;
using protocol::Modification;
using protocol::Value;

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
  std::uint64_t spent_by(IndexUse index, const Find& find) {
    Buffer out;
    budget_.begin(1);  // a budget that is spent stops nothing
    store_.begin_pass(PassMode::together, budget_);
    const bool modifies = find.modification != Modification::none;
    const Outcome outcome =
        modifies ? store_.modify(index, find, out) : store_.find(index, find, out, nullptr);
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
  const Find all{.comparison = Comparison::greater, .key = zero_, .limit = 2'000};
  EXPECT_GE(spent_by(index, all), 1'000U);
  EXPECT_LE(spent_by(index, {.key = one_}), 2U);

  const std::vector<Filter> none{{FilterKind::skip, Comparison::equal, 0, {"0"}}};
  Find filtered = all;
  filtered.filters = none;
  EXPECT_GE(spent_by(index, filtered), 1'000U);

  Find offset = all;
  offset.offset = 900;
  offset.limit = 1;
  EXPECT_GE(spent_by(index, offset), 900U);

  const std::vector<Value> absent(300, Value{"-1"});
  EXPECT_GE(spent_by(index, {.key = zero_, .limit = 300, .in = {.key_part = 0, .values = absent}}),
            300U);
}

TEST_F(MemoryBudget, IsSpentOnChanges) {
  const std::vector<Value> name{{"changed"}};
  EXPECT_GE(spent_by(open("user_name"),
                     {.key = one_, .modification = Modification::update, .values = name}),
            Budget::steps_of_a_change);
}

TEST_F(MemoryBudget, BoundsAModificationThatIsNotAside) {
  const std::vector<Value> name{{"changed"}};
  IndexUse index = open("user_name");
  MemoryStore bounded(database_, Access::write, counters_, {.rows = 500});
  const auto modify = [&](const Find& find, PassMode mode) {
    Buffer out;
    budget_.begin(1);
    bounded.begin_pass(mode, budget_);
    const Outcome outcome = bounded.modify(index, find, out);
    EXPECT_EQ(out.empty(), !outcome.ok());
    EXPECT_TRUE(bounded.end_pass().ok());
    return outcome.verdict();
  };
  Find find{.comparison = Comparison::greater,
            .key = zero_,
            .limit = 20,
            .modification = Modification::update,
            .values = name};
  EXPECT_EQ(modify(find, PassMode::together), Verdict::answered);
  find.limit = 40;  // too many changes
  EXPECT_EQ(modify(find, PassMode::together), Verdict::oversized);
  find.limit = 1;
  find.offset = 900;  // too many rows examined
  EXPECT_EQ(modify(find, PassMode::writes_alone), Verdict::oversized);
  find.limit = 1'000;
  EXPECT_EQ(modify(find, PassMode::aside), Verdict::answered);
}

}  // namespace
}  // namespace hs::store
