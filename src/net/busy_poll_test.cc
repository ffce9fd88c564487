#include "net/busy_poll.h"

#include <gtest/gtest.h>

namespace hs::net::test {
namespace {

// The number of `waits` in which it was worth staying awake, if each try ends as `came` says.
unsigned tries(BusyPoll& poll, unsigned waits, bool came) {
  unsigned tried = 0;
  for (unsigned i = 0; i < waits; ++i) {
    if (!poll.worth_it()) continue;
    ++tried;
    poll.note(came);
  }
  return tried;
}

TEST(BusyPoll, IsAlwaysTriedWhileItPays) {
  BusyPoll poll;
  EXPECT_EQ(tries(poll, 1000, true), 1000U);
}

TEST(BusyPoll, IsRarelyTriedWhereItDoesNotPay) {
  BusyPoll poll;
  EXPECT_LE(tries(poll, 12'800, false), 22U);
  EXPECT_GE(tries(poll, 1024, false), 1U);
}

TEST(BusyPoll, IsSkippedNowAndThenWhereItPaysEveryOtherTime) {
  BusyPoll poll;
  unsigned tried = 0;
  for (unsigned i = 0; i < 10'000; ++i) {
    if (!poll.worth_it()) continue;
    poll.note(++tried % 2 == 0);
  }
  EXPECT_LE(tried, 6'700U);
}

TEST(BusyPoll, ForgivesOneMissAtOnce) {
  BusyPoll poll;
  EXPECT_EQ(tries(poll, 1, false), 1U);
  EXPECT_FALSE(poll.worth_it());
  EXPECT_EQ(tries(poll, 100, true), 100U);
}

TEST(BusyPoll, RecoversWhenItPaysAgain) {
  BusyPoll poll;
  tries(poll, 10'000, false);
  tries(poll, 2048, true);
  EXPECT_EQ(tries(poll, 100, true), 100U);
}

}  // namespace
}  // namespace hs::net::test
