// Tests of inserts of several rows in the in-memory store. The server's tables are held to the same by
// tests/e2e/requests/test_upserts.py.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "store/memory_store.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

constexpr Value null{{}, true};

std::string_view name_of(RowFate fate) {
  switch (fate) {
    case RowFate::inserted: return "inserted";
    case RowFate::updated: return "updated";
    case RowFate::unchanged: return "unchanged";
    case RowFate::ignored: return "ignored";
    case RowFate::replaced: return "replaced";
    case RowFate::unmet: return "unmet";
  }
  return "?";
}

class MemoryInsertsTest : public ::testing::Test {
 protected:
  MemoryInsertsTest() {
    database_.add_table(
        {"db",
         "t",
         {{.name = "id", .integer = true, .nullable = false, .auto_increment = true},
          {.name = "k", .integer = true},
          {.name = "s"},
          {.name = "n", .integer = true, .nullable = false}},
         {{"PRIMARY", {0}, true}, {"by_k", {1}, true}, {"by_s", {2}, true}}});
    EXPECT_TRUE(
        store_.open_index({"db", "t", "", "id,k,s,n", "n,s"}, Caller::unlimited(), use_).ok());
    EXPECT_EQ(insert({{"1"}, {"10"}, {"a"}, {"5"}, {"2"}, {"20"}, {"b"}, {"6"}}),
              "inserted 1, inserted 2");
  }
  std::string insert(std::vector<Value> values, InsertRows how = {}, PassMode mode = {}) {
    how.values = values;
    how.columns = 4;
    store_.begin_pass(mode, budget_);
    std::vector<InsertedRow> inserted;
    const Outcome outcome = store_.insert_rows(use_, how, inserted);
    EXPECT_TRUE(store_.end_pass().ok());
    if (outcome.verdict() == Verdict::oversized) return "oversized";
    if (!outcome.ok()) {
      return outcome.status().kind() == Error::duplicate_key      ? "duplicate"
             : outcome.status().kind() == Error::null_not_allowed ? "null"
             : outcome.status().kind() == Error::no_filter_column ? "no filter column"
                                                                  : "?";
    }
    std::string text;
    for (const InsertedRow& row : inserted) {
      text += (text.empty() ? "" : ", ") + std::string(name_of(row.fate)) + " " +
              (row.id ? std::to_string(row.id->magnitude()) : "~");
    }
    return text;
  }
  std::string update(std::vector<Value> values, std::vector<Assignment> assignments,
                     std::vector<Filter> condition = {}) {
    return insert(
        std::move(values),
        {.on_duplicate = OnDuplicate::update, .assignments = assignments, .condition = condition});
  }
  std::string rows() {
    const Value lowest{"0"};
    TestRows rows;
    Buffer out;
    Found found;
    store_.begin_pass(PassMode::together, budget_);
    EXPECT_TRUE(
        store_
            .find(use_,
                  {.range = range_of(Comparison::greater_equal), .key = {&lowest, 1}, .limit = 100},
                  rows, out, nullptr, found)
            .ok());
    EXPECT_TRUE(store_.end_pass().ok());
    return std::string(out.view());
  }

  MemoryDatabase database_;
  CounterBlock counters_;
  MemoryStore store_{database_, Access::write, counters_, {.rows = 200}};
  Budget budget_;
  IndexUse use_;
};

using enum AssignKind;

TEST_F(MemoryInsertsTest, AZeroThatIsToBeKeptIsNoNewId) {
  const std::vector<Value> values{{"0"}, {"30"}, {"c"}, {"7"}};
  store_.begin_pass(PassMode::together, budget_);
  Changed changed;
  EXPECT_EQ(store_.insert(use_, {.values = values, .keeps_zero = true}, changed).status(),
            zero_asks_for_id);
  EXPECT_TRUE(store_.insert(use_, {.values = values}, changed).ok());
  EXPECT_EQ(changed.id->magnitude(), 3U);
  EXPECT_TRUE(store_.end_pass().ok());
}

TEST_F(MemoryInsertsTest, InsertsAllRowsOrNone) {
  EXPECT_EQ(insert({null, {"30"}, {"c"}, {"7"}, null, null, null, {"8"}}),
            "inserted 3, inserted 4");
  EXPECT_EQ(insert({null, {"40"}, {"d"}, {"7"}, null, {"10"}, null, {"8"}}), "duplicate");
  EXPECT_EQ(insert({null, {"40"}, {"d"}, {"7"}, null, {"50"}, null, null}), "null");
  EXPECT_EQ(insert({{"9"}, {"40"}, null, {"7"}, {"9"}, {"50"}, null, {"1"}}), "duplicate");
  EXPECT_EQ(rows(), "1,10,a,5 2,20,b,6 3,30,c,7 4,~,~,8 ");
}

TEST_F(MemoryInsertsTest, IgnoresRowsThatAreThere) {
  EXPECT_EQ(insert({null, {"10"}, {"x"}, {"1"}, {"7"}, {"30"}, {"c"}, null},
                   {.on_duplicate = OnDuplicate::ignore}),
            "ignored ~, inserted 7");
  EXPECT_EQ(rows(), "1,10,a,5 2,20,b,6 7,30,c,0 ") << "a NULL became the default";
}

TEST_F(MemoryInsertsTest, ReplacesEveryRowThatIsThere) {
  EXPECT_EQ(insert({{"3"}, {"10"}, {"b"}, {"1"}, {"4"}, {"40"}, {"d"}, {"2"}},
                   {.on_duplicate = OnDuplicate::replace}),
            "replaced 3, inserted 4");
  EXPECT_EQ(rows(), "3,10,b,1 4,40,d,2 ");
}

TEST_F(MemoryInsertsTest, UpdatesTheRowOfTheFirstKey) {
  EXPECT_EQ(update({{"1"}, {"20"}, {"z"}, {"3"}}, {{3, add, {"1"}}}), "updated 1");
  EXPECT_EQ(update({null, {"20"}, {"a"}, {"3"}}, {{3, set_new}, {2, set, {"q"}}}), "updated 2");
  EXPECT_EQ(update({null, {"20"}, {"y"}, {"3"}}, {{3, set_new}}), "unchanged 2");
  EXPECT_EQ(update({{"5"}, {"50"}, {"y"}, {"3"}}, {{3, set_new}}), "inserted 5");
  EXPECT_EQ(rows(), "1,10,a,6 2,20,q,3 5,50,y,3 ");
}

TEST_F(MemoryInsertsTest, AnUpdateSeesRowsOfItsOwn) {
  const std::vector<Value> twice{{"7"}, {"70"}, {"s"}, {"1"}, {"8"}, {"70"}, {"t"}, {"5"}};
  EXPECT_EQ(update(twice, {{3, set_new}, {3, add, {"100"}}}), "inserted 7, updated 7");
  EXPECT_EQ(rows(), "1,10,a,5 2,20,b,6 7,70,s,105 ");
}

TEST_F(MemoryInsertsTest, AnUpdateFailsAsAWhole) {
  const std::vector<Value> two{{"1"}, {"1"}, {"x"}, {"1"}, {"9"}, {"20"}, {"y"}, {"1"}};
  EXPECT_EQ(update(two, {{1, set, {"10"}}, {3, set, {"0"}}}), "duplicate");
  EXPECT_EQ(rows(), "1,10,a,5 2,20,b,6 ");
}

TEST_F(MemoryInsertsTest, ChecksTheRowThatIsThere) {
  const Filter below_six{FilterKind::skip, Comparison::less, 0, {"6"}};
  const Filter is_a{FilterKind::skip, Comparison::equal, 1, {"a"}};
  const std::vector<Value> both{{"1"}, null, null, {"1"}, {"2"}, null, null, {"1"}};
  EXPECT_EQ(update(both, {{3, add, {"1"}}}, {below_six}), "updated 1, unmet 2");
  EXPECT_EQ(update(both, {{3, add, {"1"}}}, {below_six, is_a}), "unmet 1, unmet 2");
  EXPECT_EQ(update(both, {{3, add, {"1"}}}, {{FilterKind::skip, Comparison::less, 2, {"6"}}}),
            "no filter column");
  EXPECT_EQ(rows(), "1,10,a,6 2,20,b,6 ");
}

TEST_F(MemoryInsertsTest, ManyRowsAreForAStreamer) {
  std::vector<Value> many;
  for (int i = 0; i < 100; ++i) many.insert(many.end(), {null, null, null, {"1"}});
  EXPECT_EQ(insert(many), "oversized");
  EXPECT_EQ(rows(), "1,10,a,5 2,20,b,6 ");
  EXPECT_TRUE(insert(many, {}, PassMode::aside).starts_with("inserted 3, inserted 4"));
}

TEST_F(MemoryInsertsTest, NeedsTheRightsOfWhatItMayDo) {
  EXPECT_EQ(rights_to_insert({}), Rights::insert);
  EXPECT_EQ(rights_to_insert({.on_duplicate = OnDuplicate::ignore}), Rights::insert);
  EXPECT_EQ(rights_to_insert({.on_duplicate = OnDuplicate::replace}),
            Rights::insert | Rights::erase);
  EXPECT_EQ(rights_to_insert({.on_duplicate = OnDuplicate::update}),
            Rights::insert | Rights::read | Rights::update);
}

}  // namespace
}  // namespace hs::store
