// Tests of assignments in the in-memory store. The server's tables are held to the same by
// tests/e2e/requests/test_assignments.py.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/memory_store.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

constexpr Value null{{}, true};

class MemoryAssignTest : public ::testing::Test {
 protected:
  MemoryAssignTest() {
    database_.add_table({"db",
                         "t",
                         {{.name = "id", .integer = true, .nullable = false},
                          {.name = "n", .integer = true},
                          {.name = "s"},
                          {.name = "must", .integer = true, .nullable = false}},
                         {{"PRIMARY", {0}, true}, {"by_s", {2}, true}}});
    EXPECT_TRUE(
        store_.open_index({"db", "t", "", "id,n,s,must", ""}, Caller::unlimited(), use_).ok());
    insert({{"1"}, {"10"}, {"abc"}, {"7"}});
    insert({{"2"}, null, null, {"8"}});
  }
  void insert(std::vector<Value> row) {
    store_.begin_pass(PassMode::together, budget_);
    Changed changed;
    EXPECT_TRUE(store_.insert(use_, {row}, changed).ok());
    EXPECT_TRUE(store_.end_pass().ok());
  }
  // The row afterwards, as the reply has it, or the number of the error's kind.
  std::string assign(std::string_view id, std::vector<Assignment> assignments,
                     bool with_before = false) {
    const Value key{id};
    TestRows rows;
    Buffer out;
    Changed changed;
    store_.begin_pass(PassMode::together, budget_);
    const Outcome outcome = store_.modify(use_, {.key = {&key, 1}},
                                          {.kind = ChangeKind::assign,
                                           .rows_before = with_before,
                                           .rows_after = true,
                                           .assignments = assignments},
                                          &rows, out, changed);
    EXPECT_TRUE(store_.end_pass().ok());
    if (outcome.ok()) {
      EXPECT_EQ(changed.rows, 1u);
      return std::string(out.view());
    }
    EXPECT_TRUE(out.empty());
    return outcome.status().kind() == Error::out_of_range       ? "out of range"
           : outcome.status().kind() == Error::null_not_allowed ? "null"
           : outcome.status().kind() == Error::duplicate_key    ? "duplicate"
           : outcome.status() == no_number                      ? "no number"
                                                                : "?";
  }
  std::string number_after(AssignKind kind, std::string_view value,
                           std::span<const Value> bounds = {}) {
    EXPECT_NE(assign("1", {{1, AssignKind::set, {"10"}}}), "?");
    return assign("1", {{1, kind, {value}, bounds}});
  }

  MemoryDatabase database_;
  CounterBlock counters_;
  MemoryStore store_{database_, Access::write, counters_};
  Budget budget_;
  IndexUse use_;
};

using enum AssignKind;

TEST_F(MemoryAssignTest, SetsValuesNullsAndDefaults) {
  EXPECT_EQ(assign("1", {{1, set, {"5"}}, {2, set, null}}), "1,5,~,7 ");
  EXPECT_EQ(assign("1", {{1, set_default}, {3, set_default}}), "1,~,~,0 ");
  EXPECT_EQ(assign("1", {{3, set, null}}), "null");
  EXPECT_EQ(assign("2", {{1, set, {"x"}}}), "?") << "SQL's number for a wrong value is another one";
  EXPECT_EQ(assign("1", {{3, set, {"4"}}}, true), "1,~,~,0 1,~,~,4 ");
}

TEST_F(MemoryAssignTest, SetsTheTime) {
  const std::string row = assign("1", {{2, set_now}, {1, set_now}});
  EXPECT_EQ(row.size(), std::string("1,20261126051000,2026-11-26 05:10:00,7 ").size()) << row;
  EXPECT_EQ(row.substr(0, 4), "1,20");
}

TEST_F(MemoryAssignTest, AddsWithinBounds) {
  const Value bounds[] = {{"0"}, {"12"}};
  const Value lowest[] = {{"0"}, null};
  EXPECT_EQ(number_after(add, "2"), "1,12,abc,7 ");
  EXPECT_EQ(number_after(subtract, "12"), "1,-2,abc,7 ");
  EXPECT_EQ(number_after(add, "3", bounds), "1,12,abc,7 ");
  EXPECT_EQ(number_after(subtract, "12", bounds), "1,0,abc,7 ");
  EXPECT_EQ(number_after(add, "100", lowest), "1,110,abc,7 ");
  EXPECT_EQ(number_after(add, "9223372036854775807"), "out of range");
  EXPECT_EQ(number_after(add, "9223372036854775807", bounds), "1,12,abc,7 ");
  EXPECT_EQ(number_after(add, ""), "no number");
  EXPECT_EQ(assign("1", {{2, add, {"1"}}}), "no number");
}

TEST_F(MemoryAssignTest, LeavesNullsAsTheyAre) {
  for (const AssignKind kind :
       {add, subtract, append, prepend, at_least, at_most, bit_and, bit_or, bit_xor}) {
    EXPECT_EQ(assign("2", {{1, kind, {"1"}}}), "2,~,~,8 ");
    EXPECT_EQ(assign("1", {{1, kind, null}}), "1,10,abc,7 ");
  }
}

TEST_F(MemoryAssignTest, AppendsAndPrepends) {
  EXPECT_EQ(assign("1", {{2, append, {"d"}}, {2, prepend, {"_"}}}), "1,10,_abcd,7 ");
  EXPECT_EQ(assign("1", {{1, append, {"1"}}}), "1,101,_abcd,7 ");
}

TEST_F(MemoryAssignTest, SetsIfGreaterOrLess) {
  EXPECT_EQ(number_after(at_least, "9"), "1,10,abc,7 ");
  EXPECT_EQ(number_after(at_least, "100"), "1,100,abc,7 ");
  EXPECT_EQ(number_after(at_most, "9"), "1,9,abc,7 ");
  EXPECT_EQ(number_after(at_most, "100"), "1,10,abc,7 ");
  EXPECT_EQ(assign("1", {{2, at_least, {"abd"}}}), "1,10,abd,7 ");
  EXPECT_EQ(assign("1", {{2, at_most, {"abd!"}}}), "1,10,abd,7 ");
}

TEST_F(MemoryAssignTest, ComputesBits) {
  EXPECT_EQ(number_after(bit_and, "6"), "1,2,abc,7 ");
  EXPECT_EQ(number_after(bit_or, "5"), "1,15,abc,7 ");
  EXPECT_EQ(number_after(bit_xor, "2"), "1,8,abc,7 ");
  EXPECT_EQ(number_after(bit_or, "-1"), "out of range");
}

// The first assignment would have been possible.
TEST_F(MemoryAssignTest, ChangesNothingIfOneFails) {
  EXPECT_EQ(assign("1", {{1, set, {"5"}}, {3, set, null}}), "null");
  EXPECT_EQ(assign("2", {{1, set, {"5"}}, {2, set, {"abc"}}}), "duplicate");
  EXPECT_EQ(assign("1", {}), "1,10,abc,7 ");
  EXPECT_EQ(assign("2", {}), "2,~,~,8 ");
}

}  // namespace
}  // namespace hs::store
