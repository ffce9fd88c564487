// What the in-memory store allows its callers, and when it asks.
#include "store/memory_caller.h"

#include <gtest/gtest.h>

#include <string>

#include "store/memory_store.h"
#include "store/sample_tables.h"
#include "store/test_rows.h"

namespace hs::store {
namespace {

class CallerTest : public ::testing::Test {
 protected:
  CallerTest() { add_golden_tables(database_); }

  Outcome open(const std::shared_ptr<const Caller>& caller, IndexUse& use,
               std::string_view table = "t") {
    return store_.open_index({"hst", table, "", "id,a", {}}, caller, use);
  }
  // Each is a pass of one request.
  Status find(IndexUse& use) {
    return in_a_pass([&] { return store_.find(use, {.key = one_}, rows_, out_, nullptr, found_); });
  }
  Status modify(IndexUse& use, ChangeKind kind) {
    const Change change{.kind = kind, .values = uno_};
    return in_a_pass(
        [&] { return store_.modify(use, {.key = one_}, change, &rows_, out_, changed_); });
  }
  Status insert(IndexUse& use) {
    return in_a_pass([&] { return store_.insert(use, {eight_}, changed_); });
  }
  template <class Request>
  Status in_a_pass(Request request) {
    store_.begin_pass(PassMode::together, budget_);
    const Outcome outcome = request();
    EXPECT_TRUE(outcome.answered());
    store_.abandon_pass();
    out_.clear();
    return outcome.status();
  }

  const Value one_[1] = {{"1", false}};
  const Value uno_[2] = {{"1", false}, {"uno", false}};
  const Value eight_[1] = {{"8", false}};
  MemoryDatabase database_;
  CounterBlock counters_;
  MemoryStore store_{database_, Access::write, counters_};
  Budget budget_;
  TestRows rows_;
  Buffer out_;
  Found found_;
  Changed changed_;
  std::shared_ptr<MemoryCaller> caller_ = std::make_shared<MemoryCaller>();
};

TEST_F(CallerTest, EachRequestNeedsItsRights) {
  IndexUse use;
  caller_->grant("hst", "t", Rights::read);
  ASSERT_TRUE(open(caller_, use).ok());
  EXPECT_TRUE(find(use).ok());
  EXPECT_EQ(modify(use, ChangeKind::update), access_denied);
  EXPECT_EQ(modify(use, ChangeKind::erase), access_denied);
  EXPECT_EQ(insert(use), access_denied);

  caller_->grant("hst", "t", Rights::insert | Rights::update);
  EXPECT_EQ(find(use), access_denied);
  EXPECT_EQ(modify(use, ChangeKind::update), access_denied) << "it reads the row, too";
  EXPECT_TRUE(insert(use).ok());

  caller_->grant("hst", "t", Rights::read | Rights::update);
  EXPECT_TRUE(modify(use, ChangeKind::update).ok());
  EXPECT_EQ(modify(use, ChangeKind::erase), access_denied);

  caller_->grant("hst", "t", Rights::read | Rights::erase);
  EXPECT_TRUE(modify(use, ChangeKind::erase).ok());
}

TEST_F(CallerTest, WhoHasNoRightLearnsNothingAboutATable) {
  IndexUse use;
  EXPECT_EQ(open(caller_, use).status(), access_denied);
  EXPECT_EQ(open(caller_, use, "missing").status(), access_denied);
  EXPECT_FALSE(use);
  caller_->grant("hst", "missing", Rights::read);
  EXPECT_EQ(open(caller_, use, "missing").status(), Status(Error::no_table));
}

TEST_F(CallerTest, RightsAreAskedOnceAPassAndCountFromTheNextPass) {
  caller_->grant("hst", "t", Rights::read);
  IndexUse use;
  ASSERT_TRUE(open(caller_, use).ok());
  caller_->times_asked = 0;
  store_.begin_pass(PassMode::together, budget_);
  EXPECT_TRUE(store_.find(use, {.key = one_}, rows_, out_, nullptr, found_).ok());
  EXPECT_TRUE(store_.find(use, {.key = one_}, rows_, out_, nullptr, found_).ok());
  EXPECT_EQ(caller_->times_asked, 1U);
  caller_->grant("hst", "t", Rights::none);
  EXPECT_TRUE(store_.find(use, {.key = one_}, rows_, out_, nullptr, found_).ok());
  ASSERT_TRUE(store_.end_pass().ok());
  out_.clear();
  EXPECT_EQ(find(use), access_denied);
  EXPECT_EQ(caller_->times_asked, 2U);
  caller_->grant("hst", "t", Rights::read);
  EXPECT_TRUE(find(use).ok());
}

TEST_F(CallerTest, CallersShareAnIndexButNotTheirRights) {
  IndexUse owner;
  ASSERT_TRUE(open(Caller::unlimited(), owner).ok());
  IndexUse guest(owner.shared(), caller_);
  EXPECT_TRUE(find(owner).ok());
  EXPECT_EQ(find(guest), access_denied);
  EXPECT_TRUE(insert(owner).ok());
  caller_->grant("hst", "t", Rights::read);
  EXPECT_TRUE(find(guest).ok());
  EXPECT_EQ(insert(guest), access_denied);
}

}  // namespace
}  // namespace hs::store
