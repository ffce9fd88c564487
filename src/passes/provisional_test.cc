#include "passes/provisional.h"

#include <gtest/gtest.h>

#include <string>

namespace hs::passes {
namespace {

TEST(ProvisionalTest, ReturnsToWhatItWasBeforeTheFirstChangeThatWaits) {
  Provisional<std::string> value;
  value.set("known");
  value.set_until_commit("first");
  value.set_until_commit("second");
  EXPECT_EQ(value.get(), "second");
  value.note_failed();
  EXPECT_EQ(value.get(), "known");
  value.note_failed();
  EXPECT_EQ(value.get(), "known") << "nothing waits any more";
}

TEST(ProvisionalTest, WhatIsCommittedOrWaitsForNoCommitStays) {
  Provisional<std::string> value;
  value.set_until_commit("committed");
  value.note_committed();
  value.note_failed();
  EXPECT_EQ(value.get(), "committed");
  value.set_until_commit("waits");
  value.set("final");
  value.note_failed();
  EXPECT_EQ(value.get(), "final");
}

}  // namespace
}  // namespace hs::passes
