// Tests of the units of the in-memory store. The server's tables are held to the same by
// tests/e2e/requests/test_units.py.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "store/memory_store.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

class MemoryUnitTest : public ::testing::TestWithParam<PassMode> {
 protected:
  MemoryUnitTest() {
    database_.add_table(
        {"db", "kv", {{.name = "k", .nullable = false}, {.name = "v"}}, {{"PRIMARY", {0}, true}}});
    EXPECT_TRUE(store_.open_index({"db", "kv", "", "k,v", ""}, Caller::unlimited(), use_).ok());
  }
  void begin_pass() { store_.begin_pass(GetParam(), budget_); }
  Outcome insert(std::string_view key) {
    const Value row[] = {{key}, {"1"}};
    Changed changed;
    return store_.insert(use_, {row}, changed);
  }
  std::string rows_now() {
    const Value from{""};
    TestRows rows;
    Buffer out;
    Found found;
    const Outcome outcome = store_.find(
        use_, {.range = range_of(Comparison::greater_equal), .key = {&from, 1}, .limit = 100}, rows,
        out, nullptr, found);
    EXPECT_TRUE(outcome.ok());
    return std::string(out.view());
  }
  std::string rows() {
    begin_pass();
    std::string found = rows_now();
    EXPECT_TRUE(store_.end_pass().ok());
    return found;
  }
  // What a unit leaves in `out` if it ends like this behind two inserts.
  Outcome unit_of_two(Outcome end, Buffer& out) {
    return run_unit(store_, out, [&] {
      out.append("reply");
      EXPECT_TRUE(insert("b").ok());
      EXPECT_TRUE(insert("c").ok());
      return end;
    });
  }

  MemoryDatabase database_;
  CounterBlock counters_;
  MemoryStore store_{database_, Access::write, counters_};
  Budget budget_;
  IndexUse use_;
};

TEST_P(MemoryUnitTest, StaysAsAWhole) {
  begin_pass();
  Buffer out;
  EXPECT_TRUE(insert("a").ok());
  EXPECT_TRUE(unit_of_two({}, out).ok());
  EXPECT_EQ(out.view(), "reply");
  EXPECT_TRUE(insert("d").ok());
  EXPECT_TRUE(store_.end_pass().ok());
  EXPECT_EQ(rows(), "a,1 b,1 c,1 d,1 ");
}

TEST_P(MemoryUnitTest, IsUndoneAsAWholeAndNothingElseIs) {
  const Outcome ends[] = {Outcome{Status(Error::duplicate_key, 121)}, Outcome{Verdict::blocked},
                          Outcome{Verdict::oversized}, Outcome{Verdict::not_yet}};
  begin_pass();
  EXPECT_TRUE(insert("a").ok());
  for (const Outcome& end : ends) {
    Buffer out;
    out.append("before ");
    const Outcome outcome = unit_of_two(end, out);
    EXPECT_EQ(outcome.verdict(), end.verdict());
    EXPECT_EQ(outcome.status(), end.status());
    EXPECT_EQ(out.view(), "before ");
    EXPECT_EQ(rows_now(), "a,1 ");
  }
  EXPECT_TRUE(insert("d").ok());
  EXPECT_TRUE(store_.end_pass().ok());
  EXPECT_EQ(rows(), "a,1 d,1 ");
}

TEST_P(MemoryUnitTest, GoesOnAfterAnErrorIfItLikes) {
  begin_pass();
  EXPECT_TRUE(store_.begin_unit().ok());
  EXPECT_TRUE(insert("a").ok());
  EXPECT_FALSE(insert("a").ok());
  EXPECT_TRUE(insert("b").ok());
  EXPECT_EQ(rows_now(), "a,1 b,1 ");
  EXPECT_TRUE(store_.end_unit().ok());
  EXPECT_TRUE(store_.end_pass().ok());
  EXPECT_EQ(rows(), "a,1 b,1 ");
}

// Alone, it is the unit's own commit. Together, it is that of the pass.
TEST_P(MemoryUnitTest, IsGoneIfItsCommitFails) {
  const Status failed(Error::commit_failed, 1180);
  store_.faults().next_commit = failed;
  begin_pass();
  Buffer out;
  const Outcome unit = unit_of_two({}, out);
  EXPECT_EQ(unit.status(), GetParam() == PassMode::together ? Status{} : failed);
  EXPECT_EQ(out.view(), GetParam() == PassMode::together ? "reply" : "");
  EXPECT_EQ(store_.end_pass().status(), GetParam() == PassMode::together ? failed : Status{});
  EXPECT_EQ(rows(), "");
}

TEST_P(MemoryUnitTest, EndsWithAnAbandonedPass) {
  begin_pass();
  EXPECT_TRUE(store_.begin_unit().ok());
  EXPECT_TRUE(insert("a").ok());
  store_.abandon_pass();
  EXPECT_EQ(rows(), "");
}

INSTANTIATE_TEST_SUITE_P(InEachMode, MemoryUnitTest,
                         ::testing::Values(PassMode::together, PassMode::writes_alone,
                                           PassMode::aside));

}  // namespace
}  // namespace hs::store
